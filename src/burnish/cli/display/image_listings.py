"""Image runs in a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from burnish.app.images.progress import progress_percent
from burnish.cli.display.image_results import STATUS_STYLES
from burnish.cli.wording import age, one_line, short_id
from burnish.domain.images import ImageRun

_PROMPT_WIDTH = 50


def image_listing_json(run: ImageRun) -> dict[str, Any]:
    """One run as `image list --json` prints it."""
    best = run.leaderboard[0] if run.leaderboard else None
    return {
        "run_id": run.run_id,
        "project_id": run.request.project_id,
        "base_prompt": run.request.base_prompt,
        "objective_preset": run.request.objective_preset.value,
        "image_model": run.request.image_model,
        "n_variants": run.request.n_variants,
        "status": run.status.value,
        "degraded": run.degraded,
        "progress_percent": progress_percent(run),
        "best": None
        if best is None
        else {
            "variant_id": best.variant_id,
            "composite_score": best.composite_score,
            "commit_id": best.commit_id,
        },
        "created_at": run.created_at,
        "completed_at": run.completed_at,
    }


def print_image_runs(console: Console, runs: Sequence[ImageRun]) -> None:
    """The table."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="image runs", title_justify="left")
    for column in ("id", "project", "prompt", "status"):
        table.add_column(column, no_wrap=column == "id", overflow="fold")
    for column in ("best", "variants", "age"):
        table.add_column(column, justify="right", no_wrap=True)
    for run in runs:
        best = run.leaderboard[0].composite_score if run.leaderboard else None
        table.add_row(
            short_id(run.run_id),
            Text(run.request.project_id),
            Text(one_line(run.request.base_prompt, _PROMPT_WIDTH)),
            Text(run.status.value, style=STATUS_STYLES.get(run.status, "cyan")),
            "" if best is None else f"{best:.4f}",
            str(run.request.n_variants),
            age(run.created_at),
        )
    console.print(table)
