"""Two commits side by side, in words and numbers."""

from __future__ import annotations

from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from burnish.cli.display.rows import print_rows
from burnish.cli.wording import percent, short_id
from burnish.domain.images import ImageComparison

_NUMBERS = (
    "prompt_adherence",
    "subject_fidelity",
    "composition_quality",
    "style_coherence",
    "technical_artifact_penalty",
    "confidence",
    "composite_score",
)


def print_comparison(console: Console, found: ImageComparison, *, output: Path | None) -> None:
    """How far the pixels differ, and what the judge says of each."""
    rows = [
        ("changed", Text(f"{percent(found.changed_share)} of the pixels visibly differ")),
        ("difference", Text(f"{percent(found.mean_difference)} on the average")),
        ("judged by", Text(found.judge)),
    ]
    if output is not None:
        rows.append(("map", Text(str(output), style="cyan")))
    print_rows(console, rows)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("rubric")
    left, right = short_id(found.left_commit_id), short_id(found.right_commit_id)
    for column in (left, right, "change"):
        table.add_column(column, justify="right", no_wrap=True)
    for name in _NUMBERS:
        before, after = getattr(found.left_rubric, name), getattr(found.right_rubric, name)
        table.add_row(
            name.replace("_", " "), f"{before:.4f}", f"{after:.4f}", f"{after - before:+.4f}"
        )
    console.print(table)
