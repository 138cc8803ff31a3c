"""Verdicts on a winner by a few held-out rows, as a run says them, and by many others, as a check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from burnish.evaluation.statistics import paired_permutation_test

# A user who holds rows out has fewer than this benchmark: the verdict is said on a third of the test.
SAID_ON = 3
_ALPHA = 0.05
NOT_BETTER = ("nothing beat the baseline", "not better")


def verdict(before: Sequence[float], after: Sequence[float], *, is_new: bool) -> str:
    """In the words of `show`: what a run would say with these rows as its test split."""
    if not is_new:
        return NOT_BETTER[0]
    change = paired_permutation_test(before, after, seed=0)
    if change.delta <= 0:
        return NOT_BETTER[1]
    is_proven = change.ci_low > 0 and change.p_value < _ALPHA
    return "better" if is_proven else "not proven"


def second_look(before: Sequence[float], after: Sequence[float]) -> dict[str, float]:
    """The paired difference on the other rows."""
    change = paired_permutation_test(before, after, seed=0)
    return {
        "rows": len(before),
        "gain": change.delta,
        "low": change.ci_low,
        "high": change.ci_high,
    }


def was_right(run: Mapping[str, Any]) -> bool | None:
    """Whether the other rows agree; None where nothing was said for sure, or nothing can be checked.

    "Not better" is wrong where they show a gain beyond chance: of the winner, or, where the first
    prompt was kept, of the best other one that the search had. "Better" is wrong where they show none.
    """
    second = run.get("second")
    if second is None or run.get("said") not in (*NOT_BETTER, "better"):
        return None
    return bool(second["gain"] > 0) if run["said"] == "better" else bool(second["low"] <= 0)


def verdict_lines(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """How often "not better" and "better" were said, and were right."""
    found = []
    for name, words in (("not better", NOT_BETTER), ("better", ("better",))):
        said = [one for one in runs if one.get("said") in words]
        checked = [right for one in said if (right := was_right(one)) is not None]
        found.append(
            f"“{name}” was said {len(said)} times; of {len(checked)} that a second, larger part of "
            f"the held-out rows could check, {sum(checked)} were right."
        )
    return found
