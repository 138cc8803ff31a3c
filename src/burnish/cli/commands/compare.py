"""`burnish compare`: two experiments or optimizations, item by item."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from burnish.app.evaluate.baselines import Baseline, is_file, read_exported, read_side
from burnish.app.evaluate.result import comparison_json
from burnish.app.report.differences import difference
from burnish.cli.console import Streams
from burnish.cli.display.differences import print_difference
from burnish.cli.display.evaluation import comparison_rows, verdict
from burnish.cli.display.rows import print_notice, print_rows
from burnish.cli.eval_request import regression_gate
from burnish.cli.options import Config, Db, Json
from burnish.cli.project_location import ProjectLocation
from burnish.cli.running import run
from burnish.cli.wording import harmless
from burnish.domain.wording import counted
from burnish.evaluation.statistics import PairedComparison

_NAMES = (
    "An experiment or optimization: id, part of it, name or `latest`; or an exported JSON file."
)
_LISTED = 10


def compare(
    context: typer.Context,
    a: Annotated[str, typer.Argument(metavar="A", help=_NAMES, show_default=False)],
    b: Annotated[str, typer.Argument(metavar="B", help=_NAMES, show_default=False)],
    fail_on_regression: Annotated[
        bool,
        typer.Option("--fail-on-regression", help="Exit with 1 when B is worse with p < 0.05."),
    ] = False,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Compare two experiments or optimizations on the items that both ran.

    Of an optimization its best candidate counts, on held-out items where it has them.
    """
    streams: Streams = context.obj
    location = ProjectLocation.of(context, config, db)
    before, after = run(_sides(location, a, b))
    found = before.compare(after)
    changed = _changed(before, after)
    gate = regression_gate(found)
    if streams.json_output:
        streams.print_document(
            {
                "a": _side_json(before, after),
                "b": _side_json(after, before),
                **comparison_json(found, before.id),
                "changed": changed,
                **({"gates": [gate.to_json()]} if fail_on_regression else {}),
            }
        )
    else:
        _print(streams.console, before, after, found, changed)
    if fail_on_regression and not gate.passed:
        print_notice(streams, [("gate failed", gate.words)])
        raise typer.Exit(1)


async def _sides(location: ProjectLocation, *references: str) -> list[Baseline]:
    if all(is_file(one) for one in references):
        return [read_exported(Path(one)) for one in references]
    async with location.read() as workspace:
        return [await read_side(workspace, one) for one in references]


def _changed(before: Baseline, after: Baseline) -> list[dict[str, Any]]:
    """Items whose score differs, the worst first."""
    rows: list[dict[str, Any]] = [
        {
            "item_id": one,
            "before": before.outcomes[one].score,
            "after": after.outcomes[one].score,
        }
        for one in before.common(after)
    ]
    differing = [row for row in rows if abs(row["after"] - row["before"]) > 1e-12]
    return sorted(differing, key=lambda row: row["after"] - row["before"])


def _score(side: Baseline, other: Baseline) -> float:
    scores = [side.outcomes[one].score for one in side.common(other)]
    return math.fsum(scores) / len(scores)


def _side_json(side: Baseline, other: Baseline) -> dict[str, Any]:
    configuration = side.configuration
    return {
        "id": side.id,
        "name": side.name,
        "score": _score(side, other),
        "items": len(side.outcomes),
        "configuration_hash": None if configuration is None else configuration.hash,
        "note": side.note,
    }


def _print(
    console: Console,
    before: Baseline,
    after: Baseline,
    found: PairedComparison,
    changed: list[dict[str, Any]],
) -> None:
    for letter, side, other in (("a", before, after), ("b", after, before)):
        head = Text.assemble((f"{letter}  ", "dim"), (f"{_score(side, other):.3f}", "bold cyan"))
        left = len(side.outcomes) - found.items
        more = f"  {counted(left, 'item')} only here" if left else ""
        console.print(head + Text(f"  {harmless(side.name)}  {side.id}{more}"), soft_wrap=True)
    console.print()
    console.print(
        Text.assemble((f"b against a on {counted(found.items, 'item')}: ", "bold"), verdict(found))
    )
    print_rows(console, comparison_rows(found))
    for side in (before, after):
        if side.note:
            console.print(Text.assemble(("! ", "bold yellow"), (harmless(side.note), "yellow")))
    worse = [row for row in changed if row["after"] < row["before"]]
    if worse:
        console.print()
        console.print(Text("worsened", style="bold"))
        for row in worse[:_LISTED]:
            words = f"  {row['item_id']}  {row['before']:.2f} → {row['after']:.2f}"
            console.print(Text(harmless(words)), soft_wrap=True)
        if len(worse) > _LISTED:
            console.print(Text(f"  and {len(worse) - _LISTED} more; --json has all", style="dim"))
    if before.configuration is not None and after.configuration is not None:
        console.print()
        print_difference(console, difference(before.configuration, after.configuration))
