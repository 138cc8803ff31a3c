"""Pictures, commits and runs as tests use them."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import Any

from tests.support.image_leases import take_this_run

from burnish.domain.images.protocols import ImageRepository, LeasedRun
from burnish.domain.images.runs import (
    CommitStatus,
    Constraints,
    ImageCommit,
    ImageComparison,
    ImageFile,
    ImageRun,
    ImageRunRequest,
    ImageRunStatus,
    ObjectivePreset,
    Pairwise,
    Preference,
    Quality,
    Rubric,
    Suggestions,
    Variant,
    VariantStatus,
)
from burnish.domain.usage import Spending, Usage


def digest_of(data: bytes) -> str:
    """The name of a picture."""
    return sha256(data).hexdigest()


def make_file(name: str = "a picture", **changes: Any) -> ImageFile:
    """A file whose bytes nobody looks at."""
    plain = ImageFile(
        digest=digest_of(name.encode("utf-8", "surrogatepass")),
        media_type="image/png",
        width=640,
        height=480,
        size=12_345,
    )
    return replace(plain, **changes)


def make_commit(identity: str = "c1", **changes: Any) -> ImageCommit:
    """A root commit with one picture."""
    plain = ImageCommit(
        commit_id=identity,
        project_id="p1",
        parent_commit_id=None,
        status=CommitStatus.SUCCESS,
        prompt="a red lighthouse",
        model="sketch",
        images=(make_file(identity),),
    )
    return replace(plain, **changes)


def make_rubric(adherence: float = 0.75, **changes: Any) -> Rubric:
    """A verdict with tags and a reason."""
    plain = Rubric(
        prompt_adherence=adherence,
        subject_fidelity=0.5,
        composition_quality=0.625,
        style_coherence=0.875,
        technical_artifact_penalty=0.1,
        confidence=0.9,
        failure_tags=("blurry edge",),
        strength_tags=("light", "colour"),
        rationale="the lighthouse is red",
        not_measured=("style_coherence",),
    )
    return replace(plain, **changes)


def make_comparison(identity: str = "x1", **changes: Any) -> ImageComparison:
    """A comparison of two commits."""
    plain = ImageComparison(
        comparison_id=identity,
        project_id="p1",
        left_commit_id="c1",
        right_commit_id="c2",
        changed_share=0.25,
        mean_difference=0.1,
        difference_map=make_file(f"difference {identity}", width=320),
        left_rubric=make_rubric(),
        right_rubric=make_rubric(0.5, failure_tags=()),
        judge="pixel-judge",
        wish=make_request().wish,
        spending=Spending({"judge": Usage(calls=2, input_tokens=7, cost_usd=None)}),
    )
    return replace(plain, **changes)


def make_request(**changes: Any) -> ImageRunRequest:
    """A request without a parent."""
    plain = ImageRunRequest(
        project_id="p1",
        base_prompt="a red lighthouse at dusk",
        objective_preset=ObjectivePreset.ADHERENCE,
        image_model="sketch",
        judge_model="pixel-judge",
        n_variants=2,
        quality=Quality.LOW,
        constraints=Constraints(must_include=("a gull",), must_avoid=("text", "people")),
    )
    return replace(plain, **changes)


def make_variant(number: int = 1, **changes: Any) -> Variant:
    """A variant that was drawn and judged."""
    plain = Variant(
        variant_id=f"v{number:02}",
        variant_prompt=f"wording {number}",
        mutation_tags=("lighting", "lens"),
        status=VariantStatus.EVALUATED,
        parent_commit_id="c0",
        commit_id=f"c{number}",
        image=make_file(f"c{number}"),
        generation_latency_ms=12.5,
        judge_latency_ms=3.25,
        rubric=make_rubric(),
        composite_score=make_rubric().composite_score,
        rank=number,
        not_drawn=("old",),
        pairwise=Pairwise(
            preferences=(Preference("v02", 0.75, "the light"), Preference("anchor", None, "away")),
            win_rate=0.6,
            interval=(0.25, 0.875),
        ),
    )
    return replace(plain, **changes)


def full(run: ImageRun, **changes: Any) -> ImageRun:
    """The run with something in each of its fields."""
    filled = replace(
        run,
        status=ImageRunStatus.REFINING,
        stage=ImageRunStatus.REFINING,
        degraded=True,
        degradations=("planned from templates",),
        error={"code": "OPENAI_TIMEOUT", "message": "m", "fix": "f", "retryable": True},
        variants=(
            make_variant(1),
            make_variant(2, rubric=None, pairwise=None, rank=None, error={"code": "x"}),
        ),
        suggestions=Suggestions(conservative="a", balanced="b", aggressive="c"),
        spending=Spending({"agent": Usage(calls=3, input_tokens=7, cost_usd=None)}),
    )
    return replace(filled, **changes)


async def begin(
    images: ImageRepository, run_id: str = "r1", *, seconds: float = 60, **changes: Any
) -> LeasedRun:
    """A new run that somebody holds."""
    await images.create_run(run_id, make_request(**changes))
    taken = await take_this_run(images, run_id, owner="owner a", seconds=seconds)
    assert taken is not None
    return taken
