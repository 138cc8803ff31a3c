"""The rounds of `burnish image optimize` as people read them."""

from __future__ import annotations

from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from burnish.cli.display.rows import print_rows, print_steps
from burnish.cli.project_location import Place
from burnish.cli.wording import count, duration, harmless, money, one_line, short_id
from burnish.images.rounds import ImageOptimizationResult

_PROMPT_WIDTH = 60
_WHOLE = 10_000


def print_image_rounds(
    console: Console,
    result: ImageOptimizationResult,
    place: Place,
    *,
    sheet: Path | None,
    seconds: float,
) -> None:
    """Each round with what it gained, the best picture, and why it stopped."""
    verdict = ("better", "green") if result.improved else ("nothing was better", "yellow")
    console.print(
        Text.assemble(
            (count(len(result.rounds), "round"), "bold"),
            (f"  {verdict[0]}", verdict[1]),
            (f" in {duration(seconds)}", "dim"),
        )
    )
    console.print(_table(result))
    console.print()
    best = result.best_score
    rows = [
        ("best", Text("not scored" if best is None else f"{best:.4f}", style="bold cyan")),
        ("prompt", Text(one_line(result.best_prompt, _WHOLE))),
        ("stopped by", Text(harmless(f"{result.ended.value}: {result.why}"))),
        ("drawn", Text(count(result.images, "picture"))),
        ("spent", Text(money(result.spending.total.cost_usd))),
    ]
    if sheet is not None:
        rows.append(("pictures", Text(str(sheet), style="cyan")))
    print_rows(console, rows)
    if result.rounds and result.best_commit_id is not None:
        project = result.rounds[0].run.request.project_id
        commit = short_id(result.best_commit_id)
        words = ["image", "run", "--project", project, "--parent", commit, "--prompt"]
        console.print()
        print_steps(console, [(f"{place.command(*words)} …", "goes on from the best")])


def _table(result: ImageOptimizationResult) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("round", "began at", "winner", "gain", "sure"):
        table.add_column(column, justify="right", no_wrap=True)
    for column in ("kept", "run", "prompt"):
        table.add_column(column, no_wrap=column != "prompt")
    for one in result.rounds:
        rubric = one.winner.rubric if one.winner is not None else None
        score = one.winner.composite_score if one.winner is not None else None
        table.add_row(
            str(one.number),
            "" if one.parent_score is None else f"{one.parent_score:.4f}",
            "" if score is None else f"{score:.4f}",
            "" if one.margin is None else f"{one.margin:+.4f}",
            "" if rubric is None else f"{rubric.confidence:.2f}",
            Text("yes", style="green") if one.kept else Text("no", style="dim"),
            short_id(one.run.run_id),
            Text(one_line(one.run.request.base_prompt, _PROMPT_WIDTH)),
        )
    return table
