"""Progress line of calls from Python: written over in a terminal and a notebook, lines elsewhere."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import AsyncIterator, Callable
from importlib import import_module
from typing import Any, Protocol

from burnish.app.optimize.following import OnEvent, tell
from burnish.app.report.tabular import cost_words
from burnish.domain import Event, EventType
from burnish.domain.wording import counted
from burnish.evaluation.progress import Progress
from burnish.optimization.attempt import Attempt
from burnish.optimization.checkpoint import Phase

_LOOK_SECONDS = 0.25
_SECONDS_BETWEEN_LINES = 5.0


class Display(Protocol):
    """Shows one line at a time; `last` says that no other follows."""

    def show(self, line: str, *, last: bool) -> None:
        """Show it in place of the one before."""
        ...


class TerminalLine:
    """A line that is written over, cut at the terminal's width."""

    def show(self, line: str, *, last: bool) -> None:
        """Write it in place of the one before."""
        with contextlib.suppress(OSError):
            columns = os.get_terminal_size(sys.stderr.fileno()).columns
            line = line[: columns - 1] if columns else line
        sys.stderr.write(f"\r\x1b[2K{line}" + ("\n" if last else ""))
        sys.stderr.flush()


class NotebookLine:
    """An output of the cell that is replaced by the next one."""

    def __init__(self) -> None:
        self._output: Any = None

    def show(self, line: str, *, last: bool) -> None:
        """Replace what the cell shows."""
        display: Any = import_module("IPython.display").display  # There, since this is a notebook.
        shown = {"text/plain": line}
        if self._output is None:
            self._output = display(shown, raw=True, display_id=True)
        else:
            self._output.update(shown, raw=True)


class PlainLines:
    """Lines for a file: one now and then, and the last."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since = clock()

    def show(self, line: str, *, last: bool) -> None:
        """Print it, unless one was printed just before."""
        now = self._clock()
        if last or now - self._since >= _SECONDS_BETWEEN_LINES:
            self._since = now
            print(line, file=sys.stderr, flush=True)  # noqa: T201 - asked for


def choose_display(wanted: bool | None) -> Display | None:
    """Without a wish: one in a terminal or a notebook, none elsewhere."""
    if wanted is False:
        return None
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if getattr(shell, "kernel", None) is not None:
        return NotebookLine()
    if sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        return TerminalLine()
    return PlainLines() if wanted else None


@contextlib.asynccontextmanager
async def showing(display: Display | None, line: Callable[[], str]) -> AsyncIterator[None]:
    """Within, the line is shown as it changes. A display's trouble ends the display alone."""
    if display is None:
        yield
        return
    task = asyncio.create_task(_keep_showing(display, line))
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await task
        with contextlib.suppress(Exception):
            display.show(_harmless(line()), last=True)


async def _keep_showing(display: Display, line: Callable[[], str]) -> None:
    while True:
        display.show(_harmless(line()), last=False)
        await asyncio.sleep(_LOOK_SECONDS)


@contextlib.asynccontextmanager
async def watched_evaluation(
    title: str, progress: Progress, wanted: bool | None, on_event: OnEvent | None
) -> AsyncIterator[None]:
    """Within, an evaluation's counters are shown, and told as `progress_changed` as they move."""
    started = time.monotonic()

    async def follow() -> None:
        told = 0
        while on_event is not None:
            await asyncio.sleep(_LOOK_SECONDS)
            if progress.done > told:
                told = progress.done
                await tell(on_event, evaluation_event(title, progress))

    task = asyncio.create_task(follow())
    try:
        async with showing(
            choose_display(wanted), lambda: evaluation_line(title, progress, started)
        ):
            yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
    if on_event is not None:
        await tell(on_event, evaluation_event(title, progress, EventType.RUN_FINISHED))


def evaluation_event(
    title: str, progress: Progress, kind: EventType = EventType.PROGRESS_CHANGED
) -> Event:
    """What is known of an evaluation now."""
    return Event(
        type=kind,
        key=f"{kind.value}:{progress.done}",
        payload={
            "name": title,
            "planned": progress.planned,
            "items": progress.done,
            "passed": progress.passed,
            "errors": progress.errors,
            "cached": progress.cached,
            "score": progress.score.mean if _is_scored(progress) else None,
            "cost_usd": progress.spending.total.cost_usd,
        },
    )


def evaluation_line(title: str, progress: Progress, started: float) -> str:
    """Where an evaluation stands."""
    if progress.planned is None:
        return f"{title}  preparing"
    parts = [title, f"{progress.done:,}/{progress.planned:,}"]
    if _is_scored(progress):
        parts.append(f"score {progress.score.mean:.3f}")
    if progress.errors:
        parts.append(f"{counted(progress.errors, 'error')}")
    if cost := progress.spending.total.cost_usd:
        parts.append(cost_words(cost))
    parts.append(f"{time.monotonic() - started:.0f} s")
    return "  ".join([*parts, *progress.traffic.waiting()])


def _is_scored(progress: Progress) -> bool:
    return progress.errors + progress.skipped < progress.done


def search_line(title: str, attempt: Attempt | None) -> str:
    """Where a search stands."""
    if attempt is None:
        return f"{title}  preparing"
    checkpoint, gate = attempt.orchestrator.checkpoint, attempt.gate
    phases = {Phase.BASELINE: "baseline", Phase.CONFIRM: "comparing on held-out items"}
    parts = [title, phases.get(checkpoint.phase, f"step {max(checkpoint.step - 1, 1)}")]
    if checkpoint.progress:
        first, best = checkpoint.progress[0], checkpoint.progress[-1]
        parts.append(f"best {best.best_score:.3f} (baseline {first.best_score:.3f})")
    parts.append(f"{counted(gate.evaluations, 'evaluation')}")
    if cost := gate.spending.total.cost_usd:
        parts.append(cost_words(cost))
    parts.append(f"{gate.elapsed_seconds:.0f} s")
    return "  ".join([*parts, *attempt.traffic.waiting()])


def _harmless(text: str) -> str:
    """Nothing in a name can move the cursor."""
    return "".join(one if one.isprintable() else "�" for one in text)
