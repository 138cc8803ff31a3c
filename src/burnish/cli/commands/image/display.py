"""An image run as people read it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from burnish.cli.display.rows import print_indented, print_rows, print_steps
from burnish.cli.project_location import Place
from burnish.cli.wording import count, duration, harmless, money, one_line, short_id
from burnish.domain.images import ImageRun, ImageRunStatus, Variant

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


def print_image_run(
    console: Console,
    run: ImageRun,
    place: Place,
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
    steps = next_steps(run, place)
    if steps:
        console.print()
        print_steps(console, steps)


def print_leaderboard(console: Console, run: ImageRun) -> None:
    """The ranked variants with their numbers, then those without."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("rank", "variant", "score", *(label for label, _ in _NUMBERS)):
        table.add_column(column, justify="left" if column == "variant" else "right", no_wrap=True)
    table.add_column("commit", no_wrap=True)
    for variant in _in_order(run):
        rubric = variant.rubric
        numbers = ["" if rubric is None else f"{getattr(rubric, name):.2f}" for _, name in _NUMBERS]
        score = "" if variant.composite_score is None else f"{variant.composite_score:.4f}"
        table.add_row(
            "" if variant.rank is None else str(variant.rank),
            variant.variant_id,
            Text(score or variant.status.value, style="bold cyan" if score else "yellow"),
            *numbers,
            "" if variant.commit_id is None else short_id(variant.commit_id),
        )
    console.print(table)


def next_steps(run: ImageRun, place: Place) -> list[tuple[str, str]]:
    """Commands to go on with."""
    if not run.status.ended:
        return [(place.command("image", "resume", short_id(run.run_id)), "goes on with it")]
    best = next((one for one in run.leaderboard if one.commit_id), None)
    if best is None or best.commit_id is None:
        return []
    commit, project = short_id(best.commit_id), run.request.project_id
    words = ["image", "run", "--project", project, "--parent", commit, "--prompt"]
    steps = [(f"{place.command(*words)} …", "goes on from the winner")]
    if run.anchor_commit_id is not None:
        anchor = short_id(run.anchor_commit_id)
        steps.append((place.command("image", "compare", anchor, commit), "what the winner changed"))
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
    found = []
    if variant.rubric is not None:
        good, bad = variant.rubric.strength_tags, variant.rubric.failure_tags
        tags = [*(f"+ {tag}" for tag in good), *(f"- {tag}" for tag in bad)]
        found += ["  ".join(tags)] if tags else []
        found += [variant.rubric.rationale] if variant.rubric.rationale else []
    if variant.error is not None:
        found.append(f"failed: {variant.error.get('message', 'unknown')}")
    return found


def _facts(run: ImageRun, sheet: Path | None) -> list[tuple[str, Text]]:
    request, total = run.request, run.spending.total
    rows = [
        ("drawn by", Text(request.image_model)),
        ("judged by", Text(request.judge_model)),
        ("written by", Text(request.text_model or "templates")),
        ("spent", Text(f"{count(total.calls, 'call')} · {money(total.cost_usd)}")),
        ("project", Text(request.project_id)),
        ("run", Text(run.run_id)),
    ]
    if run.degradations:
        fallbacks = "; ".join(run.degradations)
        rows.insert(0, ("degraded", Text(harmless(fallbacks), style="yellow")))
    if sheet is not None:
        rows.append(("pictures", Text(str(sheet), style="cyan")))
    return rows
