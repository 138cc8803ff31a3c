"""Evaluation as Markdown for a pull request: numbers, interval, fixed and broken items.

What models, datasets and people wrote stands in code spans that it cannot close: there it is no
link, no picture, no mention of anybody and no HTML.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field

from rich.text import Text

from burnish.app.evaluate.baselines import Baseline
from burnish.app.evaluate.records import Record, complaint
from burnish.app.evaluate.result import EvaluationResult
from burnish.cli.display.evaluation import comparison_rows, summary_rows, verdict
from burnish.cli.wording import one_line
from burnish.domain import ItemResult
from burnish.domain.wording import counted

# By it a comment of an earlier run is found and written over.
MARKER = "<!-- burnish -->"
_MOST_TOLD, _MOST_NAMED = 20, 50
_TICKS = re.compile("`+")
_SPECIAL = re.compile(r"[\\`*_{}\[\]<>|$~#&]")


@dataclass(frozen=True, slots=True)
class Compared:
    """A baseline, and the same of the evaluation that is shown."""

    before: Baseline
    after: Baseline
    fixed: Sequence[str] = field(init=False)
    broken: Sequence[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "fixed", self.before.fixed(self.after))
        object.__setattr__(self, "broken", self.before.broken(self.after))


async def evaluation_markdown(
    result: EvaluationResult, records: AsyncIterator[Record], compared: Compared | None
) -> str:
    """The whole page; without a baseline the items that did not pass in place of broken ones."""
    rows = summary_rows(result)
    head = f"### Burnish: {_code(result.experiment.name)}"
    if compared is not None:
        comparison = compared.before.compare(compared.after)
        told = verdict(comparison, result.look, chosen=result.chosen_by_baseline).plain
        head += f": {told}{' than the baseline' * (told in ('better', 'worse'))}"
        rows += comparison_rows(comparison)
    lines = [MARKER, head, "", *_table(rows)]
    for warning in result.warnings:
        lines += ["", f"Beware: {_code(warning, 400)}"]
    failing = await _failing(records, compared)
    if compared is None:
        lines += _told(f"{counted(result.failed, 'run')} did not pass", failing, result.failed)
    else:
        total = len(compared.broken)
        lines += _told(f"{counted(total, 'item')} broken, which passed before", failing, total)
        lines += _named("fixed, which did not pass before", compared.fixed)
    return "\n".join([*lines, "", f"Experiment {_code(result.experiment_id)}"]) + "\n"


def _table(rows: Sequence[tuple[str, Text]]) -> list[str]:
    cells = [f"| {_words(label)} | {_words(text.plain)} |" for label, text in rows]
    return ["| | |", "| --- | --- |", *cells]


async def _failing(
    records: AsyncIterator[Record], compared: Compared | None
) -> dict[str, ItemResult]:
    """By item the first of its runs that did not pass; with a baseline, of broken items only."""
    wanted = None if compared is None else frozenset(compared.broken)
    found: dict[str, ItemResult] = {}
    async for record in records:
        run = record.result
        if not run.passed and len(found) < _MOST_TOLD and (wanted is None or run.item_id in wanted):
            found.setdefault(run.item_id, run)
    return found


def _told(label: str, failing: Mapping[str, ItemResult], total: int) -> list[str]:
    if not failing:
        return []
    lines = ["", f"**{label}**", ""]
    for run in failing.values():
        answer = "" if run.output is None else f", answered {_code(run.output.text)}"
        reason = complaint(run)
        why = f": {_code(reason)}" if reason else ""
        lines.append(f"- {_code(run.item_id, 80)} scored {run.score:.2f}{why}{answer}")
    return [*lines, *_rest(total - len(failing))]


def _named(label: str, ids: Sequence[str]) -> list[str]:
    if not ids:
        return []
    names = ", ".join(_code(one, 80) for one in ids[:_MOST_NAMED])
    return [
        "",
        f"**{counted(len(ids), 'item')} {label}**",
        "",
        names,
        *_rest(len(ids) - _MOST_NAMED),
    ]


def _rest(left: int) -> list[str]:
    return ["", f"and {left:,} more"] if left > 0 else []


def _words(text: str) -> str:
    """Words of ours in a table's cell, as they are."""
    return _SPECIAL.sub(r"\\\g<0>", one_line(text.replace("  ", ", "), 400))


def _code(text: str, limit: int = 200) -> str:
    """Foreign text as a code span, which takes more backticks to close than the text has in a row."""
    line = one_line(text, limit) or "(nothing)"
    fence = "`" * (max((len(run) for run in _TICKS.findall(line)), default=0) + 1)
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{space}{line}{space}{fence}"
