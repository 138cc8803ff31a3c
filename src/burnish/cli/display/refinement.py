"""What refinement did, as people read it."""

from __future__ import annotations

from rich.text import Text

from burnish.cli.wording import count, harmless, money
from burnish.domain import Outcome
from burnish.evaluation.refine import RefinementStatistics

Row = tuple[str, Text]
# Rounds of a summary; with more, the first and the last ones say it.
_MOST_ROUNDS = 6


def refinement_rows(found: RefinementStatistics | None) -> list[Row]:
    """Labelled lines of a summary; none where refinement was never asked for."""
    if found is None:
        return []
    if not found.active:
        why = harmless(str(found.settings.get("why_inactive")))
        return [("refinement", Text(f"inactive: {why}", style="yellow"))]
    return [
        ("refinement", _counts(found)),
        *_rounds(found),
        ("", Text(_answers(found), style="dim")),
        ("", Text(_costs(found))),
    ]


def _counts(found: RefinementStatistics) -> Text:
    words = [
        f"{found.refined:,} of {count(found.outputs, 'output')} refined",
        f"{found.count(Outcome.FIXED):,} fixed",
        f"{found.count(Outcome.UNCHANGED):,} unchanged",
        f"{found.count(Outcome.WORSENED):,} worsened",
    ]
    if improved := found.count(Outcome.IMPROVED):
        words.insert(2, f"{improved:,} improved")
    return Text(" · ".join(words))


def _rounds(found: RefinementStatistics) -> list[Row]:
    means = found.by_round
    if len(means) > _MOST_ROUNDS:
        means = (*means[: _MOST_ROUNDS // 2], *means[-_MOST_ROUNDS // 2 :])
    return [
        (
            f"round {one.number}",
            Text.assemble(
                (f"{one.score:.3f}", "cyan"),
                (f"  95% {one.interval.low:.3f} to {one.interval.high:.3f}", "dim"),
                f"  {count(one.outputs, 'output')}",
            ),
        )
        for one in means
    ]


def _answers(found: RefinementStatistics) -> str:
    """Both choices of an answer, and why rounds ended."""
    ends = ", ".join(f"{end.value} {number:,}" for end, number in found.ended.items())
    latest, best = found.latest_score or 0.0, found.best_score or 0.0
    chosen = found.settings.get("answer")
    return f"latest {latest:.3f} · best {best:.3f} · the answer is the {chosen} · ended: {ends}"


def _costs(found: RefinementStatistics) -> str:
    """What refining and judging again cost, and what that is for each output that it fixed."""
    each = found.cost_per_fixed
    words = f"{count(found.usage.calls, 'call')} · {money(found.usage.cost_usd)}"
    return words if each is None else f"{words} · {money(each)} for each fixed output"
