"""The first thing a new user sees: two prompts, one real model, an honest answer."""

from __future__ import annotations

import shlex
import time
from dataclasses import dataclass
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from burnish.bootstrap.evaluation_result import EvaluationResult, compare, comparison_json
from burnish.bootstrap.evaluations import Evaluation, Selection
from burnish.bootstrap.settings import load_settings
from burnish.bootstrap.workspace import Workspace
from burnish.cli.commands.init import Template, template_files, write_files
from burnish.cli.display.comparisons import p_words, verdict
from burnish.cli.display.progress import showing
from burnish.cli.display.rows import print_steps
from burnish.cli.running import run
from burnish.cli.session import Session
from burnish.cli.wording import count, duration, harmless, percent
from burnish.evaluation.progress import Progress
from burnish.evaluation.statistics import PairedComparison
from burnish.models.pull import pull

_MODEL = "smollm2-135m"
_PROMPTS = {"as a question": "prompts/system.md", "as an instruction": "prompts/better.md"}


@dataclass(frozen=True, slots=True)
class _Side:
    name: str
    prompt: str
    result: EvaluationResult


def demonstrate(session: Session, folder: Path, *, split: str, limit: int | None) -> None:
    """Evaluate both prompts and print the comparison."""
    write_files(folder, template_files(Template.REVIEWS))
    pull(_MODEL, progress=lambda line: session.messages.print(line, soft_wrap=True))
    started = time.monotonic()
    seen: list[Progress] = []

    def note() -> str | None:
        finished = sum(progress.done for progress in seen)
        command = shlex.join(["burnish", "demo", "--folder", str(folder)])
        return f"{count(finished, 'answer')} saved; go on with: {command}" if finished else None

    work = _evaluate_both(session, folder, seen, split=split, limit=limit)
    sides, comparison = run(work, note=note)
    if session.json_output:
        before, after = sides
        session.print_document(
            {
                "baseline": {"prompt": before.prompt, **before.result.to_json()},
                "candidate": {"prompt": after.prompt, **after.result.to_json()},
                "comparison": comparison_json(comparison, before.result.experiment_id),
            }
        )
        return
    _print(session.console, sides, comparison, folder, time.monotonic() - started)


async def _evaluate_both(
    session: Session, folder: Path, seen: list[Progress], *, split: str, limit: int | None
) -> tuple[list[_Side], PairedComparison]:
    database = str(folder / ".burnish" / "burnish.db")
    sides: list[_Side] = []
    async with Workspace.open(database) as workspace:
        for name, file in _PROMPTS.items():
            prompt = (folder / file).read_text(encoding="utf-8")
            settings = load_settings(
                folder / "burnish.toml", {"agent.sections.system": prompt.strip()}
            )
            evaluation = Evaluation(workspace, settings.agent_spec(), settings.suite_spec())
            progress = Progress()
            seen.append(progress)
            with showing(session.messages, progress, title=name):
                result = await evaluation.run(
                    Selection(split=split, limit=limit), name=f"demo: {name}", progress=progress
                )
            await evaluation.close()
            sides.append(_Side(name, prompt.strip(), result))
        before, after = (side.result.experiment_id for side in sides)
        return sides, await compare(workspace.experiments, before, after)


def _print(
    console: Console, sides: list[_Side], comparison: PairedComparison, folder: Path, seconds: float
) -> None:
    items = sides[0].result.items
    cached = sum(side.result.summary.cached for side in sides)
    source = f"{duration(seconds)}, {cached} from earlier runs" if cached else duration(seconds)
    console.print()
    machine = f"{count(items, 'movie review')}, SmolLM2-135M on this machine ({source})"
    console.print(Text.assemble(("Two prompts, ", "bold"), machine))
    console.print(_table(sides))
    answer = Text.assemble((f"{sides[1].name}: ", "bold"), verdict(comparison))
    answer.append(
        f"  {comparison.delta:+.3f} (95% {comparison.ci_low:+.3f} to {comparison.ci_high:+.3f}), "
        f"p {_equals(comparison.p_value)}"
    )
    console.print(answer)
    console.print(
        Text.assemble(
            (f"{comparison.improved} fixed", "green"),
            " · ",
            (f"{comparison.worsened} broken", "red"),
            (f" · {comparison.unchanged} unchanged", "dim"),
        )
    )
    for side in sides:
        for warning in side.result.warnings:
            words = harmless(f"{side.name}: {warning}")
            console.print(Text.assemble(("! ", "bold yellow"), words))
    _print_next(console, folder)


def _table(sides: list[_Side]) -> Table:
    table = Table(box=box.ROUNDED, padding=(0, 1))
    table.add_column("prompt", ratio=1)
    for column in ("score", "95% interval", "passed"):
        table.add_column(column, justify="right", no_wrap=True)
    for side in sides:
        result = side.result
        interval = result.score_interval
        prompt = Text.assemble((f"{side.name}\n", "bold"), (harmless(side.prompt), "dim"))
        table.add_row(
            prompt,
            Text(f"{result.score:.3f}", style="bold cyan"),
            f"{interval.low:.3f} to {interval.high:.3f}",
            f"{result.items - result.failed}/{result.items} {percent(result.pass_rate)}",
        )
    return table


def _equals(p_value: float) -> str:
    words = p_words(p_value)
    return words if words.startswith("<") else f"= {words}"


def _print_next(console: Console, folder: Path) -> None:
    console.print()
    console.print(Text("Your turn:", style="bold"))
    steps = (
        (f"burnish -c {folder} show latest --failing", "what it still gets wrong"),
        (f"burnish -c {folder} export -o report.html", "a page of every answer"),
        ("burnish init my-project", "this example, to change"),
    )
    print_steps(console, steps)
