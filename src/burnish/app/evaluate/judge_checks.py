"""Checks of judges from specs to a report, and rankings of experiments by a judge of two outputs."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from burnish.app.evaluate.baselines import Baseline
from burnish.app.labels.versions import REFERENCE, version_rows
from burnish.app.wiring import Workspace, database_location
from burnish.domain import Item, Score, Spending, UnavailableError, UsageError
from burnish.domain.labels import LabelKind
from burnish.evaluation.datasets import Dataset
from burnish.evaluation.judging.check import JudgeReport, PanelReport, panel_of
from burnish.evaluation.judging.check import check_judge as check_one
from burnish.evaluation.judging.labels import labelled_row
from burnish.evaluation.judging.probes import CheckedJudge, ComparingProbe, Probe, ScoringProbe
from burnish.evaluation.pairwise import Strength, bradley_terry
from burnish.evaluation.scorers.catalog import build_scorer
from burnish.evaluation.scorers.judge import LLMJudge, shown_output
from burnish.evaluation.scorers.pairwise import PairwiseJudge
from burnish.support.sync_calls import run_sync

JudgeSpec = Mapping[str, Any] | LLMJudge | PairwiseJudge
Rows = Iterable[Mapping[str, Any]] | str | Path | Dataset
_PROBES = tuple(probe for probe in Probe if probe is not Probe.PLAIN)


def check_judge(judge: JudgeSpec | Sequence[JudgeSpec], rows: Rows, **options: Any) -> Any:
    """Compare a judge's verdicts with people's labels, and see what sways it.

    `judge` is a table as in a suite's scorers, such as {"model": …, "criteria": …}, of kind "judge" or
    "pairwise"; several are a panel. `rows` hold outputs and labels; `labels:NAME` or
    `labels:NAME@VERSION` are those of a label set. `options` are those of
    `check_judge_async`. A panel gives a `PanelReport`, one judge a `JudgeReport`.
    """
    return run_sync(check_judge_async(judge, rows, **options))


async def check_judge_async(
    judge: JudgeSpec | Sequence[JudgeSpec],
    rows: Rows,
    *,
    output: str = "output",
    label: str = "label",
    other: str = "other",
    repeats: int = 2,
    probes: Sequence[str] | None = None,
    limit: int | None = None,
    concurrency: int = 16,
    db: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> JudgeReport | PanelReport:
    """`check_judge` for callers that have an event loop of their own.

    `output`, `label` and, for a judge of two, `other` are the columns of the rows. Each row is asked
    `repeats` times as it is, and once for each of `probes`: order, position, length and wording. `db`
    is where answers are kept, so that nothing is paid twice; `progress` is told how many were asked.
    """
    location = database_location(Path.cwd(), None if db is None else str(db))
    async with Workspace.open(location) as workspace:
        return await check_judges(
            workspace,
            [judge] if isinstance(judge, (Mapping, LLMJudge, PairwiseJudge)) else judge,
            rows,
            output=output,
            label=label,
            other=other,
            repeats=repeats,
            probes=probes,
            limit=limit,
            concurrency=concurrency,
            progress=progress,
        )


async def check_judges(
    workspace: Workspace,
    judges: Sequence[JudgeSpec],
    rows: Rows,
    *,
    output: str = "output",
    label: str = "label",
    other: str = "other",
    folder: Path | None = None,
    limit: int | None = None,
    probes: Sequence[str] | None = None,
    **options: Any,
) -> JudgeReport | PanelReport:
    """The report on one judge, or on several as a panel."""
    made = [open_judge(workspace, one, folder or Path.cwd()) for one in judges]
    kinds = {isinstance(one, PairwiseJudge) for one in made}
    if len(kinds) != 1:
        raise UsageError(
            what="the judges cannot be checked",
            why="there is none" if not kinds else "some judge single outputs, others compare two",
            fix="give judges of one kind",
            code="invalid_scorer",
        )
    pairwise = kinds.pop()
    if isinstance(rows, (str, Path)) and str(rows).startswith(REFERENCE):
        rows = await _label_rows(workspace, str(rows), pairwise=pairwise)
    items = itertools.islice(Dataset.of(rows).items(), limit)
    labelled = [
        labelled_row(item, output=output, label=label, other=other if pairwise else None)
        for item in items
    ]
    chosen = _PROBES if probes is None else [_probe(name) for name in probes]
    reports = [
        await check_one(_probed(one), labelled, probes=chosen, **options) for one in _named(made)
    ]
    return reports[0] if len(reports) == 1 else panel_of(reports, labelled)


async def _label_rows(workspace: Workspace, reference: str, *, pairwise: bool) -> Dataset:
    """The rows of a label set, if judges of the kind can be compared with its labels."""
    label_set, rows = await version_rows(workspace, reference)
    kind = label_set.rules.kind
    if kind is LabelKind.CLASS or pairwise != (kind is LabelKind.PREFERENCE):
        raise UsageError(
            what=f"the judges cannot be compared with {reference}",
            why=f"its labels are of the kind {kind.value!r}, "
            + ("and the judges compare two outputs" if pairwise else "and they judge one output"),
            fix="add --other other for preferences (a judge of the kind pairwise), and use scores or "
            "pass and fail for other judges",
            code="bad_label",
        )
    return rows


def open_judge(workspace: Workspace, spec: JudgeSpec, folder: Path) -> LLMJudge | PairwiseJudge:
    """The judge of a table."""
    if isinstance(spec, (LLMJudge, PairwiseJudge)):
        return spec
    table = {"kind": "judge", **spec}
    made = build_scorer(table, open_model=workspace.model, folder=folder)
    if isinstance(made, (LLMJudge, PairwiseJudge)):
        return made
    raise UsageError(
        what="the judge cannot be checked",
        why=f"{table['kind']!r} is no judge, or has no criteria",
        fix='give { kind = "judge", model = …, criteria = … }, or kind = "pairwise"',
        code="invalid_scorer",
    )


def _named(judges: Sequence[LLMJudge | PairwiseJudge]) -> list[LLMJudge | PairwiseJudge]:
    """Judges of one name in a panel are told apart by their number."""
    names = [one.name for one in judges]
    for number, one in enumerate(judges):
        if names.count(one.name) > 1:
            one.name = f"{one.name} {number + 1}"
    return list(judges)


def _probed(judge: LLMJudge | PairwiseJudge) -> CheckedJudge:
    return ComparingProbe(judge) if isinstance(judge, PairwiseJudge) else ScoringProbe(judge)


def _probe(name: str) -> Probe:
    if name not in _PROBES:
        raise UsageError(
            what=f"there is no probe {name!r}",
            why="a judge is probed in known ways",
            fix=f"use some of {', '.join(_PROBES)}",
            code="unknown_setting",
        )
    return Probe(name)


async def rank(
    judge: PairwiseJudge, sides: Sequence[Baseline], items: Iterable[Item], concurrency: int = 16
) -> tuple[list[Strength], Spending]:
    """Experiments by strength: each compared with each, on the items that both answered."""
    gate = asyncio.Semaphore(concurrency)

    async def compare(item: Item, one: Baseline, two: Baseline) -> Score:
        first, second = (shown_output(side.outputs[item.id]) for side in (one, two))
        async with gate:
            return await judge.compare(first, second, judge.fields_of(item))

    rows = list(items)
    results: dict[tuple[str, str], list[float]] = {}
    spent: list[Spending] = []
    for one, two in itertools.combinations(sides, 2):
        both = [item for item in rows if item.id in one.outputs and item.id in two.outputs]
        scores = await asyncio.gather(*(compare(item, one, two) for item in both))
        spent += [score.spending for score in scores]
        results[one.id, two.id] = [score.value for score in scores if score.error is None]
        failed = next((score.error for score in scores if score.error is not None), None)
        if failed is not None and not results[one.id, two.id]:
            raise UnavailableError(
                what=f"{one.id} and {two.id} could not be compared",
                why=failed,
                fix="check the judge's model, and run it again",
            )
    return bradley_terry(results), Spending.sum(spent)
