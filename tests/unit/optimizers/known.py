"""Item results in a few words: `result("t1", 0.0, reason="No date.")`."""

from __future__ import annotations

from burnish.domain import AgentOutput, ItemResult, Score


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
