"""Refine plan: whether a suite's outputs are refined, by what, and if not, why not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from burnish.domain import Agent, Configuration, Model, UsageError, exact_hash
from burnish.evaluation.agents import PromptAgent
from burnish.evaluation.refine.loop import RefineLoop
from burnish.evaluation.refine.policy import RefinePolicy
from burnish.evaluation.refine.refiner import PROMPT_VERSION, Refiner
from burnish.evaluation.scorers.judges import deciding_judges
from burnish.evaluation.scorers.scorer_set import ScorerSet

LLM_MODE = "llm"

OpenModel = Callable[[Any], Model]


@dataclass(frozen=True, slots=True, kw_only=True)
class RefinePlan:
    """The policy with its model open. Without a model it is inactive, and says why."""

    policy: RefinePolicy
    judges: tuple[str, ...] = ()
    model: Model | None = None
    why_inactive: str | None = None

    @property
    def active(self) -> bool:
        """Whether outputs are refined."""
        return self.model is not None

    @property
    def model_name(self) -> str | None:
        """The optimizer's name, also where it is not asked."""
        if self.model is not None:
            return self.model.name
        given = self.policy.model
        return given if isinstance(given, str) else getattr(given, "name", None)

    @property
    def fingerprint(self) -> str | None:
        """Changes whenever outputs may be refined otherwise; None while nothing is refined."""
        if self.model is None:
            return None
        policy = self.policy
        settings = [policy.limit, policy.threshold, policy.answer.value]
        shown = None if policy.fields is None else list(policy.fields)
        parameters = None if policy.parameters is None else dict(policy.parameters)
        return exact_hash([PROMPT_VERSION, self.model.fingerprint, settings, shown, parameters])

    def loop(
        self,
        agent: Agent,
        configuration: Configuration,
        scorers: ScorerSet,
        *,
        pass_threshold: float | None,
        timeout_seconds: float | None,
    ) -> RefineLoop | None:
        """What refines the outputs of an agent under a configuration."""
        if self.model is None:
            return None
        shown = self.policy.fields
        if shown is None:
            shown = sorted({name.split(".")[0] for name in configuration.placeholders})
        refiner = Refiner(
            self.model,
            fields=shown,
            parameters=self.policy.parameters,
            timeout_seconds=timeout_seconds,
        )
        writer = (
            agent.models.of(configuration).name if isinstance(agent, PromptAgent) else agent.name
        )
        return RefineLoop(
            scorers, refiner, self.policy, pass_threshold=pass_threshold, writer=writer
        )

    def to_json(self) -> dict[str, Any]:
        """What is recorded with an experiment."""
        return {
            "active": self.active,
            "why_inactive": self.why_inactive,
            "model": self.model_name,
            "limit": self.policy.limit,
            "threshold": self.policy.threshold,
            "answer": self.policy.answer.value,
            "judges": list(self.judges),
        }


def plan_refinement(
    policy: RefinePolicy | None, scorers: ScorerSet, mode: str, open_model: OpenModel
) -> RefinePlan | None:
    """The plan of a suite; None when refinement was never asked for."""
    if policy is None:
        return None
    judges = tuple(dict.fromkeys(one.model.name for one in deciding_judges(scorers)))
    why = _why_inactive(policy, scorers, mode, judges)
    model = None if why is not None else open_model(policy.model)
    return RefinePlan(policy=policy, judges=judges, model=model, why_inactive=why)


def require_fields(plan: RefinePlan | None, columns: set[str]) -> None:
    """Refuse, before anything is paid, fields that no row has."""
    if plan is None or plan.policy.fields is None:
        return
    for name in plan.policy.fields:
        if name not in columns:
            raise UsageError(
                what=f"the refinement's field {name!r} cannot be shown",
                why=f"the dataset has no such column; it has {', '.join(sorted(columns))}",
                fix="correct `fields` in [suite.refine]",
                code="unknown_field",
            )


def _why_inactive(
    policy: RefinePolicy, scorers: ScorerSet, mode: str, judges: tuple[str, ...]
) -> str | None:
    if policy.limit == 0:
        return "the limit is 0"
    if mode != LLM_MODE:
        return f"the suite's mode is {mode}: only an LLM judge gives feedback to refine by"
    if not judges and scorers.skipped:
        return "the judge's criteria are missing or empty, so nothing is evaluated"
    if not judges:
        return "no LLM judge scores the outputs: other scorers give no feedback to refine by"
    if policy.model is None:
        return "no optimizer model is configured"
    return None
