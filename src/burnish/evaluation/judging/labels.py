"""Labels of people: pass or fail, a score from 0 to 1, or which of two outputs is better."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from burnish.domain import Item, Json, UsageError
from burnish.domain.labels import SAID
from burnish.evaluation.scorers.comparison import as_text

PASS_FROM = 0.5
_GOOD = ("pass", "passed", "good", "yes", "true", "correct", "right", "ok", "1", "👍")
_BAD = ("fail", "failed", "bad", "no", "false", "incorrect", "wrong", "0", "👎")
_BETTER = ("a", "output", "better", "win", "first", "1")
_WORSE = ("b", "other", "worse", "loss", "lose", "second", "0")
_TIES = ("tie", "same", "both", "neither", "draw", "0.5")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledRow:
    """An output with the label that people gave it, from 0 to 1; `other` is what it is compared with.

    `fields` are what a judge may see of the item besides.
    """

    id: str
    output: str
    label: float
    fields: Mapping[str, Json]
    other: str | None = None


def read_label(value: Json, *, pairwise: bool) -> float:
    """A label as a number from 0 to 1; ValueError with what is wrong otherwise."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, (int, float)):
        number = float(value)
    else:
        word = value.strip().casefold() if isinstance(value, str) else None
        good, bad, ties = (_BETTER, _WORSE, _TIES) if pairwise else (_GOOD, _BAD, ())
        for words, worth in ((good, 1.0), (bad, 0.0), (ties, 0.5)):
            if word in words:
                return worth
        try:
            number = float(word or "")
        except ValueError:
            known = "output, other or tie" if pairwise else "pass or fail"
            raise ValueError(f"{value!r:.80} is neither {known} nor a number") from None
    if not 0 <= number <= 1:
        raise ValueError(f"{number:g} is not from 0 to 1")
    return number


def category(value: float, *, pairwise: bool, pass_from: float = PASS_FROM) -> str:
    """What a label or a verdict says in a word."""
    if not pairwise:
        return "pass" if value >= pass_from - 1e-9 else "fail"
    return "tie" if abs(value - 0.5) < 1e-9 else "better" if value > 0.5 else "worse"


def categories(*, pairwise: bool) -> tuple[str, ...]:
    """All of these words."""
    return ("better", "tie", "worse") if pairwise else ("pass", "fail")


def labelled_row(item: Item, *, output: str, label: str, other: str | None) -> LabelledRow:
    """The row of an item by its columns; what people said is not shown to the judge."""
    columns = [output, label, *([other] if other else [])]
    for name in columns:
        if name not in item.data:
            raise _unusable(item, f"it has no column {name!r}", f"name it; it has {_listed(item)}")
    try:
        worth = read_label(item.data[label], pairwise=other is not None)
    except ValueError as error:
        raise _unusable(item, f"its label {error}", "write pass, fail or 0 to 1") from error
    return LabelledRow(
        id=item.id,
        output=as_text(item.data[output]),
        label=worth,
        fields={name: value for name, value in item.data.items() if name not in (*columns, *SAID)},
        other=None if other is None else as_text(item.data[other]),
    )


def _listed(item: Item) -> str:
    return ", ".join(sorted(item.data))


def _unusable(item: Item, why: str, fix: str) -> UsageError:
    return UsageError(
        what=f"the row {item.id} cannot be compared with a judge",
        why=why,
        fix=fix,
        code="bad_label",
    )
