"""What changed item by item: broken, fixed, unchanged, each with what was said and why."""

from __future__ import annotations

from collections import Counter

from burnish.app.report.html.markup import (
    as_text,
    definitions,
    excerpt,
    filters,
    row,
    safe,
    score,
    table,
)
from burnish.app.report.html.material import Change, ItemChange, ItemComparison, Material, Side
from burnish.domain import ItemResult
from burnish.domain.wording import counted

# All texts of all shown items together; the more there are, the shorter each is cut.
_ALL_TEXT = 1_000_000
_SHORTEST, _LONGEST = 60, 4_000
_MAX_FIELDS = 30
_SAME_ANSWER = 0.95


def item_changes(material: Material) -> str:
    """The table of items, with filters over it."""
    comparison = material.items
    if comparison is None:
        return "<p>There are no item results of two candidates to compare.</p>\n"
    if not comparison.shown:
        return "<p>The two candidates have no item in common.</p>\n"
    limit = _text_limit(comparison)
    expected = tuple(
        name
        for name in material.expected_fields
        if any(name in one.fields for one in comparison.shown)
    )
    columns = ["Change", "Input", *(["Expected"] if expected else []), "Baseline", _name(material)]
    rows = (_row(one, expected, limit, columns) for one in comparison.shown)
    states = {"": f"All {len(comparison.shown):,}"} | {
        change.value: f"{change.value.capitalize()} {_shown(comparison, change):,}"
        for change in Change
    }
    return (
        _intro(material, comparison)
        + _collapse(comparison)
        + filters("items-table", states, "items")
        + table("Changes item by item", columns, rows, name="items-table", tall=True)
    )


def _intro(material: Material, comparison: ItemComparison) -> str:
    total = sum(comparison.counts.values())
    where = (
        "held-out items, which the search never saw"
        if comparison.held_out
        else "items of the search, on which it could learn them by heart"
    )
    told = ", ".join(f"{comparison.counts[change]:,} {change.value}" for change in Change)
    left_out = total - len(comparison.shown)
    cut = f" {counted(left_out, 'item')} are left out of this page." if left_out else ""
    assert material.subject is not None
    return (
        f"<p>Baseline against candidate {material.subject.number} on {total:,} {where}: "
        f"{told}.{cut}</p>\n"
    )


def _name(material: Material) -> str:
    assert material.subject is not None
    return f"Candidate {material.subject.number}"


def _shown(comparison: ItemComparison, change: Change) -> int:
    return sum(1 for one in comparison.shown if one.change is change)


def _row(one: ItemChange, expected: tuple[str, ...], limit: int, columns: list[str]) -> str:
    identity = f'<div class="id">{safe(one.item_id)}</div>'
    given = [pair for pair in one.fields.items() if pair[0] not in expected]
    inputs = {safe(name): excerpt(as_text(value), limit) for name, value in given[:_MAX_FIELDS]}
    if len(given) > _MAX_FIELDS:
        inputs["…"] = f"{len(given) - _MAX_FIELDS:,} fields more"
    cells = [f'<span class="badge {one.change}">{one.change}</span>']
    cells.append(_box(identity + (definitions(inputs) if inputs else "")))
    if expected:
        wanted = {
            safe(name): excerpt(as_text(one.fields[name]), limit)
            for name in expected
            if name in one.fields
        }
        cells.append(_box(definitions(wanted) if len(wanted) > 1 else "".join(wanted.values())))
    cells += [_side(one.before, limit), _side(one.after, limit)]
    # On a narrow screen the head of the table is gone, and each cell says what it is.
    labelled = [
        f'<span class="label">{name}</span>{cell}'
        for name, cell in zip(columns[1:], cells[1:], strict=True)
    ]
    return row([cells[0], *labelled], classes=one.change.value)


def _side(side: Side, limit: int) -> str:
    answers = Counter(map(_answer, side.results))
    shown = []
    for (kind, text, why), times in answers.items():
        repeated = f' <span class="soft">× {times}</span>' if times > 1 else ""
        said = f'<div class="said {kind}">{excerpt(text, limit)}{repeated}</div>'
        because = f'<div class="why">{excerpt(why, limit)}</div>' if why else ""
        shown.append(said + because)
    return f'<b class="number">{score(side.score)}</b>{_box("".join(shown))}'


def _answer(result: ItemResult) -> tuple[str, str, str]:
    """What was said, or that nothing was, and what the scorers had to say about it."""
    reasons = [
        (f"{one.name}: " if one.name and len(result.scores) > 1 else "") + (one.error or one.reason)
        for one in result.scores
        if one.error or one.reason
    ]
    if result.error is not None:
        reasons.insert(0, f"{result.error.kind.value} error: {result.error.message}")
    if result.output is None:
        return "nothing", "no output", "\n".join(reasons)
    return "text", result.output.text, "\n".join(reasons)


def _box(html: str) -> str:
    return f'<div class="text">{html}</div>'


def _text_limit(comparison: ItemComparison) -> int:
    texts = sum(
        min(len(one.fields), _MAX_FIELDS) + 2 * (len(one.before.results) + len(one.after.results))
        for one in comparison.shown
    )
    return max(_SHORTEST, min(_LONGEST, _ALL_TEXT // max(1, texts)))


def _collapse(comparison: ItemComparison) -> str:
    """A warning when nearly every answer is the same: such a model no longer reads the item."""
    found = []
    for name, side in (("The baseline", "before"), ("The candidate", "after")):
        sides = [getattr(one, side) for one in comparison.shown]
        answers = Counter(
            result.output.text for one in sides for result in one.results if result.output
        )
        total = sum(answers.values())
        mean = sum(one.score for one in sides) / len(sides)
        answer, times = answers.most_common(1)[0] if answers else ("", 0)
        if total >= 10 and times >= _SAME_ANSWER * total and mean < _SAME_ANSWER:
            said = excerpt(answer, 80)
            found.append(
                f'<p class="warning">{name} answers “{said}” to {times:,} of {total:,} of these '
                "runs: it has collapsed to one answer, so its score says little about the wording."
                "</p>\n"
            )
    return "".join(found)
