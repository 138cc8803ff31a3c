"""Candidates with results, in a few words: `known(1, {"t1": 0, "t2": 1}, parents=(0,))`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from burnish.optimizers.gepa.moves import Kind
from burnish.optimizers.shared.evidence import Evidence, Known

from burnish.domain import AgentOutput, Candidate, Configuration, ItemResult, Score


def result(item: str, score: float, *, reason: str = "", **more) -> ItemResult:
    given = {"passed": score >= 1, "output": AgentOutput(text=f"answer to {item}"), **more}
    return ItemResult(
        item_id=item,
        item_hash=item,
        repeat=0,
        score=score,
        scores=(Score(score, reason),) if reason else (),
        **given,
    )


def known(
    number: int,
    scores: Mapping[str, float],
    *,
    parents: Sequence[int] = (),
    text: str = "Route it.",
    trial: float | None = None,
    kind: Kind | None = None,
) -> Known:
    candidate = Candidate(
        id=f"c-{number}",
        optimization_id="o",
        number=number,
        step_index=number,
        configuration=Configuration.of({"sections": {"system": text}}),
        parent_candidate_ids=tuple(f"c-{one}" for one in parents),
        metadata={} if kind is None else {"kind": kind.value},
    )
    results = {item: result(item, score) for item, score in scores.items()}
    return Known(candidate=candidate, results=results, trial_score=trial)


def evidence_of(*candidates: Known) -> Evidence:
    """Items that start with `t` are training items."""
    train = {item for one in candidates for item in one.results if item.startswith("t")}
    return Evidence(candidates, "c-0", frozenset(train))
