"""Evidence for the winner of an optimization: proven or not, what it trades, whether it collapsed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from burnish.app.report.runs.lines import python_call
from burnish.app.wiring import Workspace
from burnish.domain import Experiment, OptimizationRecord, OptimizationStatus
from burnish.domain.optimizations.records import is_shown_worse, too_many_missing
from burnish.domain.wording import counted
from burnish.evaluation.looks import level_by_hand
from burnish.optimization.objective import MEASURES

_NOTHING = 1e-9
_LESS = {"tokens": "fewer tokens", "cost": "lower cost", "latency": "lower latency"}
_MORE = {"tokens": "more tokens", "cost": "higher cost", "latency": "higher latency"}


def counted_measures(document: Mapping[str, Any]) -> tuple[str, ...]:
    """What counted besides the score in a result."""
    objective = document.get("objective") or {}
    return tuple(objective.get("pareto") or ()) or tuple(
        name for name in MEASURES if name in (objective.get("weights") or {})
    )


def is_refuted(document: Mapping[str, Any]) -> bool:
    """Whether the compared items speak against the winner: by score, or by what it saves too."""
    improvement = document.get("improvement")
    if improvement is None:
        return False
    allowance = _allowance(document)
    gain: float = improvement["delta"] + allowance
    return gain < -_NOTHING if allowance > 0 else gain <= 0


def is_proven(document: Mapping[str, Any]) -> bool:
    """Whether the compared items leave no reasonable doubt that the winner is better."""
    improvement = document["improvement"]
    if too_many_missing(improvement.get("items") or 0, improvement.get("missing") or 0):
        return False
    allowance, low = _allowance(document), improvement["ci_low"]
    if allowance > 0:
        return bool(low + allowance >= -_NOTHING)
    level = level_by_hand(improvement.get("look") or 1)
    return bool(low + allowance > 0 and improvement["p_value"] < level)


def error_words(document: Mapping[str, Any]) -> list[str]:
    """A sentence for each side of a result in which runs ended in an error, and for pairs left out."""
    found = []
    for side, name in (("baseline", "the baseline"), ("best", "the best candidate")):
        one = document.get(side) or {}
        errors, missing, runs = (one.get(name) or 0 for name in ("errors", "missing", "items"))
        same = side == "best" and not document.get("improved")
        if errors and not same:
            outside = f", {missing:,} of them for reasons outside it, which count in no score"
            found.append(
                f"{name}: {errors:,} of {counted(runs, 'run')} ended in an "
                f"error{outside if missing else ''}"
            )
    improvement = document.get("improvement") or {}
    items, missing = (improvement.get(name) or 0 for name in ("items", "missing"))
    if missing:
        doubt = too_many_missing(items, missing)
        found.append(
            f"{missing:,} of {counted(items + missing, 'pair')} were left out of the "
            f"comparison: an answer "
            "never came, for reasons outside the agent"
            + ("; with so many of them nothing is proven" if doubt else "")
        )
    return found


def trade_words(document: Mapping[str, Any]) -> str:
    """What the winner takes against the baseline, such as `49% fewer tokens`; may be empty."""
    objective = document.get("objective") or {}
    sides = objective.get("held_out") or objective
    return change_words(counted_measures(document), sides.get("baseline"), sides.get("chosen"))


def change_words(
    measures: Sequence[str],
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
) -> str:
    """How measures changed from one candidate to another."""
    words = []
    for name in measures:
        old, new = (None if side is None else side.get(MEASURES[name]) for side in (before, after))
        if not old or new is None:
            continue
        share = new / old - 1
        if abs(share) < 0.005:
            words.append(f"the same {name}")
        else:
            words.append(f"{abs(share):.0%} {(_LESS if share < 0 else _MORE)[name]}")
    return " and ".join(words)


def top_of_front(document: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The front's member that scores best."""
    front = (document.get("objective") or {}).get("front") or ()
    return max(front, key=lambda one: one["score"], default=None)


def _allowance(document: Mapping[str, Any]) -> float:
    return float((document.get("objective") or {}).get("allowance") or 0.0)


# An answer this common, over items whose right answers vary, is a model that stopped reading.
_COLLAPSED = 0.95
_FEWEST = 10
# The held-out experiments are the last that a run makes.
_NEWEST = 8


async def collapse_warnings(workspace: Workspace, record: OptimizationRecord) -> tuple[str, ...]:
    """A sentence for each side of the held-out comparison that has collapsed to one label."""
    labels = ((record.spec.get("settings") or {}).get("agent") or {}).get("labels") or ()
    result = record.result or {}
    sides = {
        (result.get(side) or {}).get("candidate_id"): name
        for side, name in (("best", "the best candidate"), ("baseline", "the baseline"))
    }
    if len(labels) < 2 or not any(sides):
        return ()
    found = []
    for experiment in await workspace.experiments.list_experiments(
        limit=_NEWEST, optimization_id=record.id
    ):
        name = sides.get(experiment.metadata.get("candidate_id"))
        if name is not None and experiment.metadata.get("role") == "confirmation":
            found.append(await _warning(workspace, experiment, name))
    return tuple(sorted(one for one in found if one))


async def _warning(workspace: Workspace, experiment: Experiment, name: str) -> str | None:
    answers: Counter[str] = Counter()
    async for result in workspace.experiments.stream_results(experiment.id):
        if result.output is not None:
            answers[result.output.text] += 1
    total = answers.total()
    if total < _FEWEST:
        return None
    answer, number = answers.most_common(1)[0]
    summary = await workspace.experiments.summarise(experiment.id)
    if number / total < _COLLAPSED or (summary.pass_rate or 0.0) >= _COLLAPSED:
        return None
    return (
        f"{name} answers {answer!r} to {number} of {counted(total, 'held-out item')}: it has "
        f"collapsed to one "
        "label, so its score says little about the wording"
    )


def held_out_items(test: Mapping[str, Any], noun: str = "held-out item") -> str:
    """How many items were compared, such as `72 of 240 held-out items` for a part of them."""
    items, every = test.get("items") or 0, test.get("of_items") or 0
    part = f"{items:,} of " if every > items else ""
    return f"{part}{counted(max(items, every), noun)}"


def part_words(document: Mapping[str, Any]) -> str | None:
    """What a comparison on a part of the held-out items could show; None for all of them."""
    test, improvement = document.get("test") or {}, document.get("improvement") or {}
    if (test.get("of_items") or 0) <= (test.get("items") or 0):
        return None
    least = improvement.get("detectable")
    shows = "too few to show any difference"
    if least is not None:
        shows = f"which show differences from about {least:.2f}"
    return f"the budget left room for {held_out_items(test)}, {shows}"


COMPRESS = "compress"
_RUN_AGAIN = ("gepa", "auto")
_LUCK = "takes that for luck: run again, the winner is better"
_ITS_OWN = "chose the winner by more than that score"
_COMPARED = ("held_out", "delta", "ci_low", "ci_high", "p_value", "fixed", "broken")


def evidence_of(record: OptimizationRecord) -> dict[str, Any] | None:
    """The comparison of winner and baseline; None while there is none."""
    result = record.result or {}
    improvement = result.get("improvement")
    if improvement is None:
        return None
    test = result.get("test") or {}
    compressed = record.optimizer_name == COMPRESS
    return {
        **{name: improvement[name] for name in _COMPARED},
        "items": test.get("items"),
        "of_items": test.get("of_items"),
        "detectable": improvement.get("detectable"),
        "missing": improvement.get("missing") or 0,
        "baseline_score": test.get("baseline_score", record.baseline_score),
        "best_score": test.get("best_score", record.best_score),
        "proven": is_proven(result),
        "refuted": is_shown_worse(improvement) if compressed else is_refuted(result),
        "overruled": overruled_of(result, record.optimizer_name),
    }


def overruled_of(result: Mapping[str, Any], optimizer: str) -> dict[str, Any] | None:
    """Who scored higher than the winner or was chosen, and why it is not it; None without one.

    A compression is chosen by its length, so that others score higher is no news.
    """
    other = result.get("overruled")
    if not other:
        return None
    by = other.get("by", "optimizer")
    if by == "evidence":
        why = (
            f"{optimizer} chose it, but on the {other['items']} items that both ran candidate "
            f"{other['better']} is better (p = {other['p_value']:.2g})"
        )
    elif optimizer == COMPRESS:
        return None
    else:
        why = f"{optimizer} {_LUCK if optimizer in _RUN_AGAIN else _ITS_OWN}"
    who = {name: other[name] for name in ("candidate_id", "number", "score")}
    return {**who, "by": by, "why": why}


def overruled_words(result: Mapping[str, Any], optimizer: str) -> str | None:
    """The same as a sentence without its end."""
    other = overruled_of(result, optimizer)
    if other is None:
        return None
    refused = other["by"] == "evidence"
    what = "is not the winner" if refused else "scored higher on the items of the search"
    return f"candidate {other['number']} {what} ({other['score']:.3f}); {other['why']}"


def explanation_of(record: OptimizationRecord, *, owned: bool) -> str | None:
    """Why it is empty, failed, was stopped or found nothing; None when all is well."""
    result = record.result or {}
    if record.status is OptimizationStatus.FAILED:
        return _failure(record.framework_error or {})
    if record.status is OptimizationStatus.INITIALIZED:
        return "it has not begun: nobody has started it, or it waits for its turn"
    if record.status is OptimizationStatus.RUNNING:
        if not owned:
            call = python_call(record)
            how = f"call {call}" if call else "resume it, or wait for a server to take it up"
            return f"nobody works on it at the moment: {how}"
        return None if record.baseline_score is not None else "the baseline is evaluated first"
    if record.status is OptimizationStatus.CANCELLED:
        return result.get("stop_message") or "it was cancelled"
    return None if result.get("improved") else result.get("why_not_improved")


def _failure(error: Mapping[str, Any]) -> str:
    message = str(error.get("message") or "it failed")
    return f"{message}; {error['fix']}" if error.get("fix") else message
