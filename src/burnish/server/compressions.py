"""Compressions: the report of a run that shortened a prompt."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from burnish.app.compress.report import CompressionReport, read_compression
from burnish.domain import Configuration
from burnish.optimizers.compress.examples import part_text
from burnish.server.http.errors import errors
from burnish.server.http.requests import OptimizationId
from burnish.server.http.responses import View
from burnish.server.http.services import Serving
from burnish.server.optimizations.schemas import Spent

router = APIRouter(prefix="/v1/private/optimizations", tags=["optimizations"])


class SectionSize(BaseModel):
    """Tokens of a section before and after; the examples together are `@examples`."""

    path: str
    before: int
    after: int


class PromptSize(BaseModel):
    """Tokens of the whole prompt, with nothing filled in."""

    before: int
    after: int
    saved: int
    saved_share: float
    sections: list[SectionSize]


class KeptEdit(View):
    """A section that became shorter without breaking anything, and the edits that did it."""

    section_path: str
    original_hash: str
    original_body: str
    proposed_body: str
    token_reduction: int
    baseline_pass_rate: float
    candidate_pass_rate: float
    edits: list[str]


class RejectedEdit(View):
    """An edit that was not kept, with items that it broke; there may be more of them."""

    section_path: str
    edit: str
    token_reduction: int
    regression_count: int
    reason: str
    item_ids: list[str]


class UntestedLineView(View):
    """A line that no item tests, and whether the result still says it."""

    section_path: str
    text: str
    kept: bool


class SavingsView(BaseModel):
    """What the shorter prompt saves; dollars are None where the price is not known."""

    tokens_per_call: int
    usd_per_call: float | None
    cached_share: float | None = Field(
        description="Of what the agent read, the tokens that the provider had: they cost less."
    )
    calls_per_month: int | None
    tokens_per_month: int | None
    usd_per_month: float | None
    why_unknown: str | None


class HeldOut(BaseModel):
    """Before and after on items that the search never saw."""

    baseline_score: float
    best_score: float
    items: int
    delta: float | None
    ci_low: float | None
    ci_high: float | None
    p_value: float | None


class CompressionView(View):
    """A compression from the prompt as it was to the shortest that regresses nothing."""

    optimization_id: str
    status: str
    stop_reason: str | None
    stop_message: str | None
    agent: str
    tokens: PromptSize
    modifications: list[KeptEdit]
    rejected: list[RejectedEdit] = Field(description="The largest saving first.")
    untested: list[UntestedLineView] = Field(
        description="Lines of the prompt that no item tests; kept unless that was asked for."
    )
    gate_items: int = Field(description="Items that passed before, and so have to pass after.")
    eval_runs: int
    regressions: int
    regressed_items: list[str]
    baseline_pass_rate: float
    candidate_pass_rate: float
    evaluations: int
    savings: SavingsView
    held_out: HeldOut | None
    refuted: bool = Field(description="Held-out items speak against it: keep none of it.")
    confirmation: str
    configuration: dict[str, Any]
    usage: Spent

    @classmethod
    def of(cls, report: CompressionReport, baseline: Configuration) -> CompressionView:
        """From the report, with the texts that it began with."""
        document = report.to_json()
        for one in document["modifications"]:
            one["original_body"] = part_text(baseline, one["section_path"]) or ""
        return cls.model_validate(document)


@router.get("/{optimization_id}/compression", responses=errors(404, 409))
async def get_compression(
    serving: Serving,
    optimization_id: OptimizationId,
    calls_per_month: Annotated[
        int | None,
        Query(ge=0, lt=2**53, description="Says what the shorter prompt saves in a month."),
    ] = None,
) -> CompressionView:
    """What was shortened, what was kept and what was not; 409 as long as it has not ended."""
    found = await read_compression(
        serving.workspace, serving.project, optimization_id, calls_per_month=calls_per_month
    )
    return CompressionView.of(*found)
