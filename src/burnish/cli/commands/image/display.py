"""Image runs as people read them, and their progress while they go on."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from burnish.app.images.documents import progress_percent, stage_message
from burnish.app.images.models import model_label
from burnish.cli.display.rows import print_indented, print_rows, print_steps
from burnish.cli.project_location import ProjectLocation
from burnish.cli.wording import cost_words, duration, harmless, one_line, short_id
from burnish.domain.images.runs import ImageRun, ImageRunStatus, Rubric, Variant, VariantStatus
from burnish.domain.wording import counted

STATUS_STYLES = {
    ImageRunStatus.COMPLETED: "green",
    ImageRunStatus.COMPLETED_DEGRADED: "yellow",
    ImageRunStatus.FAILED: "bold red",
    ImageRunStatus.CANCELLED: "yellow",
}
# Prompts are shown whole, without their line breaks.
_WHOLE = 10_000
_NUMBERS = (
    ("adherence", "prompt_adherence"),
    ("fidelity", "subject_fidelity"),
    ("composition", "composition_quality"),
    ("style", "style_coherence"),
    ("artifacts", "technical_artifact_penalty"),
    ("sure", "confidence"),
)
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


def print_image_run(
    console: Console,
    run: ImageRun,
    location: ProjectLocation,
    *,
    sheet: Path | None = None,
    seconds: float | None = None,
) -> None:
    """How it ended, the leaderboard, the suggestions, and what to do next."""
    style = STATUS_STYLES.get(run.status, "cyan")
    console.print(
        Text.assemble(
            (one_line(run.request.base_prompt), "bold"),
            (f"  {run.status.value}", style),
            (f" in {duration(seconds)}" if seconds is not None else "", "dim"),
        ),
        soft_wrap=True,
    )
    if run.variants:
        console.print()
        print_leaderboard(console, run)
        _print_variants(console, run)
    if run.suggestions is not None:
        console.print()
        console.print(Text("suggestions", style="bold"))
        suggested = asdict(run.suggestions).items()
        print_rows(console, [(name, Text(one_line(text, _WHOLE))) for name, text in suggested])
    console.print()
    print_rows(console, _facts(run, sheet))
    steps = next_steps(run, location)
    if steps:
        console.print()
        print_steps(console, steps)


def print_leaderboard(console: Console, run: ImageRun) -> None:
    """Who drew and judged, the ranked variants with their numbers, then those without."""
    request = run.request
    drawer, judge = model_label(request.image_model), model_label(request.judge_model)
    console.print(Text(f"drawn by {drawer}, judged by {judge}", style="dim"), soft_wrap=True)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    paired = any(one.win_rate is not None for one in run.variants)
    beside = ("win rate",) if paired else ()
    for column in ("rank", "variant", *beside, "score", *(label for label, _ in _NUMBERS)):
        table.add_column(column, justify="left" if column == "variant" else "right", no_wrap=True)
    table.add_column("commit", no_wrap=True)
    for variant in _in_order(run):
        rubric = variant.rubric
        numbers = ["" if rubric is None else rubric_number(rubric, name) for _, name in _NUMBERS]
        score = "" if variant.composite_score is None else f"{variant.composite_score:.4f}"
        table.add_row(
            "" if variant.rank is None else str(variant.rank),
            variant.variant_id,
            *([_win_rate(variant)] if paired else []),
            Text(score or variant.status.value, style="bold cyan" if score else "yellow"),
            *numbers,
            "" if variant.commit_id is None else short_id(variant.commit_id),
        )
    console.print(table)


def _win_rate(variant: Variant) -> str:
    known = variant.pairwise
    if known is None or known.win_rate is None or known.interval is None:
        return ""
    low, high = known.interval
    return f"{known.win_rate:.2f} ({low:.2f}–{high:.2f})"


def rubric_number(rubric: Rubric, name: str, digits: int = 2) -> str:
    """One number of a verdict, or that it was not measured."""
    unknown = name in rubric.not_measured
    return "not measured" if unknown else f"{getattr(rubric, name):.{digits}f}"


def next_steps(run: ImageRun, location: ProjectLocation) -> list[tuple[str, str]]:
    """Commands to go on with."""
    if not run.status.ended:
        return [(location.command("image", "resume", short_id(run.run_id)), "goes on with it")]
    best = next((one for one in run.leaderboard if one.commit_id), None)
    if best is None or best.commit_id is None:
        return []
    commit, project = short_id(best.commit_id), run.request.project_id
    words = ["image", "run", "--project", project, "--parent", commit, "--prompt"]
    steps = [(f"{location.command(*words)} …", "goes on from the winner")]
    if run.anchor_commit_id is not None:
        anchor = short_id(run.anchor_commit_id)
        steps.append(
            (location.command("image", "compare", anchor, commit), "what the winner changed")
        )
    return steps


def _in_order(run: ImageRun) -> list[Variant]:
    """The ranked ones by rank, then the others."""
    return [*run.leaderboard, *(one for one in run.variants if one.rank is None)]


def _print_variants(console: Console, run: ImageRun) -> None:
    for variant in _in_order(run):
        words = Text.assemble(
            (f"{variant.variant_id}  ", "dim"), one_line(variant.variant_prompt, _WHOLE)
        )
        print_indented(console, words, 2)
        for note in _notes(variant):
            print_indented(console, Text(harmless(note), style="dim"), 7)


def _notes(variant: Variant) -> list[str]:
    found = [f"not drawn: {', '.join(variant.not_drawn)}"] if variant.not_drawn else []
    if variant.rubric is not None:
        good, bad = variant.rubric.strength_tags, variant.rubric.failure_tags
        tags = [*(f"+ {tag}" for tag in good), *(f"- {tag}" for tag in bad)]
        found += ["  ".join(tags)] if tags else []
        found += [variant.rubric.rationale] if variant.rubric.rationale else []
    for one in () if variant.pairwise is None else variant.pairwise.preferences:
        if one.value is not None:
            found.append(f"against {one.other}: {one.value:g}, {one.reason}")
    if variant.error is not None:
        found.append(f"failed: {variant.error.get('message', 'unknown')}")
    return found


def _facts(run: ImageRun, sheet: Path | None) -> list[tuple[str, Text]]:
    request, total = run.request, run.spending.total
    rows = [
        ("written by", Text(request.text_model or "templates")),
        ("spent", Text(f"{counted(total.calls, 'call')} · {cost_words(total.cost_usd)}")),
        ("project", Text(request.project_id)),
        ("run", Text(run.run_id)),
    ]
    if run.degradations:
        fallbacks = "; ".join(run.degradations)
        rows.insert(0, ("degraded", Text(harmless(fallbacks), style="yellow")))
    if sheet is not None:
        rows.append(("pictures", Text(str(sheet), style="cyan")))
    return rows


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
        line = f"{progress_percent(run):5.1f}%  {stage_message(run)}"
        if line != self._last:
            self._last = line
            self._console.print(line, soft_wrap=True)


def _frame(run: ImageRun | None) -> RenderableType:
    if run is None:
        return Text("preparing …", style="dim")
    head = Table.grid(padding=(0, 2))
    bar = ProgressBar(total=100, completed=progress_percent(run), width=_BAR_WIDTH)
    head.add_row(bar, Text(f"{progress_percent(run):.0f}%"), Text(stage_message(run), style="bold"))
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


@dataclass(slots=True)
class ImageWatch:
    """The run as it was last seen. Each of `listeners` is called with it when it changed."""

    run: ImageRun | None = None
    # Of several rounds: the command that goes on with all of them.
    resume: tuple[str, ...] | None = None
    listeners: list[Callable[[ImageRun], None]] = field(default_factory=list)

    def note(self, run: ImageRun) -> None:
        """It has changed."""
        self.run = run
        for listener in self.listeners:
            listener(run)

    def kept(self, location: ProjectLocation) -> str | None:
        """What of a stopped run is kept, and the command that goes on with it."""
        if self.run is None or (self.run.status.ended and self.resume is None):
            return None
        command = location.command(*(self.resume or ("image", "resume", short_id(self.run.run_id))))
        return f"every finished picture and score is saved; go on with: {command}"
