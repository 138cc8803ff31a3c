"""An image run as it goes on: a live display on a terminal, a line for each stage elsewhere."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from burnish.app.images.progress import ImageProgress, progress_percent, stage_message
from burnish.cli.image_watch import ImageWatch
from burnish.cli.wording import one_line
from burnish.domain.images import ImageRun, ImageRunStatus, Variant, VariantStatus

_FRAMES_A_SECOND = 8
_BAR_WIDTH = 32
_PROMPT_WIDTH = 72
_MARKS = {
    VariantStatus.PLANNED: ("·", "dim"),
    VariantStatus.GENERATED: ("▣", "cyan"),
    VariantStatus.GENERATION_FAILED: ("✗", "red"),
    VariantStatus.EVALUATED: ("✓", "green"),
    VariantStatus.EVALUATED_DEGRADED: ("~", "yellow"),
    VariantStatus.EVALUATION_SKIPPED: ("✗", "red"),
}


@contextlib.contextmanager
def showing_images(console: Console, watch: ImageWatch) -> Iterator[None]:
    """Show the run while the block goes on."""
    if console.is_terminal and not console.is_dumb_terminal:
        with Live(
            get_renderable=lambda: _frame(watch.run),
            console=console,
            refresh_per_second=_FRAMES_A_SECOND,
            transient=True,
        ):
            yield
        return
    lines = _Lines(console)
    watch.listeners.append(lines.note)
    try:
        yield
    finally:
        watch.listeners.remove(lines.note)


class _Lines:
    """One line when the stage or a counter changed, and no line twice."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._last = ""

    def note(self, run: ImageRun) -> None:
        line = f"{progress_percent(run):5.1f}%  {_words(run)}"
        if line != self._last:
            self._last = line
            self._console.print(line, soft_wrap=True)


def _words(run: ImageRun) -> str:
    progress, total = ImageProgress.of(run), run.request.n_variants
    counters = {
        ImageRunStatus.GENERATING: f" ({progress.generated_variants} of {total})",
        ImageRunStatus.EVALUATING: f" ({progress.evaluated_variants} of {total})",
    }
    failed = f", {progress.failed_variants} failed" if progress.failed_variants else ""
    return f"{stage_message(run)}{counters.get(run.status, '')}{failed}"


def _frame(run: ImageRun | None) -> RenderableType:
    if run is None:
        return Text("preparing …", style="dim")
    head = Table.grid(padding=(0, 2))
    bar = ProgressBar(total=100, completed=progress_percent(run), width=_BAR_WIDTH)
    head.add_row(bar, Text(f"{progress_percent(run):.0f}%"), Text(_words(run), style="bold"))
    return Group(head, *(_variant(one) for one in run.variants))


def _variant(variant: Variant) -> Text:
    mark, style = _MARKS[variant.status]
    score = "" if variant.composite_score is None else f"{variant.composite_score:.4f}  "
    return Text.assemble(
        (f"  {mark} ", style),
        (f"{variant.variant_id}  ", "dim"),
        (score, "bold cyan"),
        one_line(variant.variant_prompt, _PROMPT_WIDTH),
    )
