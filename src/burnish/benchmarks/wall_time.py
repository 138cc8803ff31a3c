"""Wall time with models that take their time: the same number of evaluations, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from burnish.benchmarks.batches import Batch, run_batch
from burnish.benchmarks.comparison import Notice, Outcome
from burnish.benchmarks.contestants import REFERENCE, Contestant, contestants
from burnish.benchmarks.curves import Curve
from burnish.domain import BurnishError

LATENCY_SECONDS = 0.2
# As many as Burnish runs of an agent at once by default.
THREADS = 16
_WORLD = "rules"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How long one contestant took, medians over the seeds."""

    contestant: str
    evaluations: float
    reflections: float
    seconds: float
    milliseconds_an_evaluation: float


def measure_paces(
    optimizer: str,
    seeds: Sequence[int],
    evaluations: int,
    *,
    latency_seconds: float = LATENCY_SECONDS,
    notice: Notice = lambda _: None,
) -> tuple[list[Pace], list[str]]:
    """The reference one item at a time, the reference on a pool, and an optimizer of the catalog.

    The reference goes first; the optimizer then gets the number of evaluations that it really made.
    One contestant runs at a time, so that none waits for another's processor.
    """
    outcome = Outcome()
    jobs = [
        {"world": _WORLD, "seed": seed, "budget": evaluations, "latency_seconds": latency_seconds}
        for seed in seeds
    ]
    reference, own = contestants([REFERENCE, optimizer])
    alone = _run(
        reference, "one at a time", [job | {"threads": 1} for job in jobs], outcome, notice
    )
    pooled = _run(
        reference,
        f"{THREADS} threads",
        [job | {"threads": THREADS} for job in jobs],
        outcome,
        notice,
    )
    spent = {curve.seed: curve.calls for curve in alone or pooled}
    same = [job | {"budget": spent.get(int(str(job["seed"])), evaluations)} for job in jobs]
    ours = _run(own, "", same, outcome, notice)
    found = [_pace(curves) for curves in (alone, pooled, ours) if curves]
    return found, outcome.failures


def pace_ratios(paces: Sequence[Pace]) -> dict[str, float]:
    """The last one's time for an evaluation over each other one's."""
    if not paces:
        return {}
    *others, own = paces
    return {
        other.contestant: own.milliseconds_an_evaluation / other.milliseconds_an_evaluation
        for other in others
    }


def _run(
    contestant: Contestant,
    manner: str,
    jobs: Sequence[dict[str, Any]],
    outcome: Outcome,
    notice: Notice,
) -> list[Curve]:
    name = f"{contestant.name}, {manner}" if manner else contestant.name
    notice(f"wall time: {name}")
    curves: list[Curve] = []

    def take(answer: dict[str, Any]) -> None:
        if "error" in answer:
            outcome.failures.append(f"wall time of {name}: {answer['error']}")
        else:
            curves.append(replace(Curve.of(answer), optimizer=name))

    own = [job | {"optimizer": contestant.name} for job in jobs]
    try:
        failed = run_batch(contestant.command(), Batch(contestant=contestant, jobs=own), take)
    except BurnishError as error:
        failed = str(error)
    if failed:
        outcome.failures.append(f"wall time of {name}: {failed}")
    return curves


def _pace(curves: Sequence[Curve]) -> Pace:
    return Pace(
        contestant=curves[0].optimizer,
        evaluations=median(curve.calls for curve in curves),
        reflections=median(curve.reflections for curve in curves),
        seconds=median(curve.seconds for curve in curves),
        milliseconds_an_evaluation=1_000
        * median(curve.seconds / max(curve.calls, 1) for curve in curves),
    )
