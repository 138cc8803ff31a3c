"""Standings of optimizers in tables: a block a world, a row an optimizer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from burnish.benchmarks.summary import Standing
from burnish.benchmarks.wall_time import Pace


def print_standings(
    console: Console,
    rows: Sequence[Standing],
    worlds: Sequence[str],
    optimizers: Sequence[str],
    seeds: int,
) -> None:
    """What was reached with one budget, how soon, and with how many reflections."""
    if not rows:
        return
    console.print(
        f"Budget of {rows[0].budget:,} calls, medians of {seeds} seeds. "
        "Shares are of the world's maximum; a seed that never got to 90% counts with all calls, "
        "> says that half of them or more did not.",
        soft_wrap=True,
    )
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("world")
    table.add_column("optimizer")
    for column in ("share", "lowest–highest", "calls to 90%", "got there", "reflections", "seeds"):
        table.add_column(column, justify="right")
    by_place = {(row.world, row.optimizer): row for row in rows}
    for world in worlds:
        found = [by_place[world, name] for name in optimizers if (world, name) in by_place]
        for number, row in enumerate(found):
            table.add_row(
                world if number == 0 else "",
                row.optimizer,
                f"{row.share:.3f}",
                f"{row.lowest:.2f}–{row.highest:.2f}",
                f"{'>' if row.never else ''}{row.calls_to_goal:,.0f}",
                f"{row.reached:.0%}",
                f"{row.reflections:,.0f}",
                # Runs that failed are missing in a median: that must not go unseen.
                str(row.seeds) if row.seeds == seeds else f"{row.seeds} of {seeds}",
                end_section=number == len(found) - 1,
            )
    console.print(table)


def print_paces(console: Console, paces: Sequence[Pace], ratios: Mapping[str, float]) -> None:
    """Wall time, and how the last one's stands to the others'."""
    console.print("Wall time with models of 200 ms; ratios are of the time for an evaluation")
    table = Table(box=box.SIMPLE_HEAD)
    columns = ("", "evaluations", "reflections", "seconds", "ms an evaluation", "gepa over it")
    for column in columns:
        table.add_column(column, justify="left" if not column else "right")
    for pace in paces:
        ratio = ratios.get(pace.contestant)
        table.add_row(
            pace.contestant,
            f"{pace.evaluations:,.0f}",
            f"{pace.reflections:,.0f}",
            f"{pace.seconds:.1f}",
            f"{pace.milliseconds_an_evaluation:.1f}",
            "" if ratio is None else f"{ratio:.3f}",
        )
    console.print(table)
