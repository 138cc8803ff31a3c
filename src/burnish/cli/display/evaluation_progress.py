"""Evaluation progress: a live display on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from burnish.cli.wording import duration, money, one_line
from burnish.domain import UsageError
from burnish.domain.wording import counted
from burnish.evaluation.progress import Progress

_WINDOW_SECONDS = 15.0
_FRAMES_A_SECOND = 8
_SECONDS_BETWEEN_LINES = 5.0
_BAR_WIDTH = 32


class Pace:
    """Rate over the last seconds, so that a burst of cached items is soon forgotten."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: deque[tuple[float, int]] = deque([(clock(), 0)])

    def note(self, done: int) -> None:
        """Remember how much is done now."""
        now = self._clock()
        self._seen.append((now, done))
        while len(self._seen) > 2 and self._seen[1][0] < now - _WINDOW_SECONDS:
            self._seen.popleft()

    @property
    def rate(self) -> float:
        """Runs a second; 0 while it cannot be told."""
        (first, done_first), (last, done_last) = self._seen[0], self._seen[-1]
        return (done_last - done_first) / (last - first) if last > first else 0.0

    def seconds_left(self, remaining: int) -> float | None:
        """Until that many more are done; None while it cannot be told."""
        return remaining / self.rate if self.rate > 0 else None


@contextlib.contextmanager
def showing(console: Console, progress: Progress, title: str = "") -> Iterator[None]:
    """Show the progress while the block runs, from a thread: an agent may block the event loop."""
    pace = Pace()
    if console.is_terminal and not console.is_dumb_terminal:
        with Live(
            get_renderable=lambda: _frame(progress, pace, title),
            console=console,
            refresh_per_second=_FRAMES_A_SECOND,
            transient=True,
        ):
            yield
        return
    ended = threading.Event()
    thread = threading.Thread(
        target=_print_lines, args=(console, progress, pace, title, ended), daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _print_lines(
    console: Console, progress: Progress, pace: Pace, title: str, ended: threading.Event
) -> None:
    shown = 0
    while not ended.wait(_SECONDS_BETWEEN_LINES):
        if progress.planned is not None:
            shown = progress.done
            console.print(_line(progress, pace, title), soft_wrap=True)
    if progress.done > shown:
        console.print(_line(progress, pace, title), soft_wrap=True)


def _line(progress: Progress, pace: Pace, title: str) -> str:
    parts = [title, _done(progress), _score(progress), *_counters(progress), *_pace(progress, pace)]
    parts += progress.traffic.waiting()
    return "  ".join(part for part in parts if part)


def _frame(progress: Progress, pace: Pace, title: str) -> RenderableType:
    if progress.planned is None:
        return Text(f"{title or 'preparing'} …", style="dim")
    head = Table.grid(padding=(0, 2))
    # A resumed or cached run may have nothing planned; a bar needs something to divide by.
    bar = ProgressBar(total=max(progress.planned, 1), completed=progress.done, width=_BAR_WIDTH)
    pace_words = Text("  ".join(_pace(progress, pace)), style="dim")
    head.add_row(*([Text(title, style="bold")] if title else []), bar, _done(progress), pace_words)
    facts = Text()
    facts.append(_score(progress), style="bold cyan")
    for words in _counters(progress):
        facts.append(f"  {words}", style="red" if words.endswith(("error", "errors")) else "dim")
    rows: list[RenderableType] = [head, facts]
    rows += [Text(words, style="yellow") for words in progress.traffic.waiting()]
    if progress.last_error:
        rows.append(Text(f"last error: {one_line(progress.last_error, 100)}", style="red"))
    return Group(*rows)


def _done(progress: Progress) -> str:
    return f"{progress.done:,}/{progress.planned or 0:,}"


def _score(progress: Progress) -> str:
    if progress.errors + progress.skipped >= progress.done:
        return ""
    interval = None
    with contextlib.suppress(UsageError):  # It may be read in the middle of a change.
        interval = progress.score.interval()
    known = f" ({interval.low:.2f}–{interval.high:.2f})" if interval else ""
    return f"score {progress.score.mean:.3f}{known}"


def _counters(progress: Progress) -> list[str]:
    words = []
    if progress.errors:
        words.append(counted(progress.errors, "error"))
    if progress.cached:
        words.append(f"{progress.cached:,} cached")
    cost = progress.spending.total.cost_usd
    if cost:
        words.append(money(cost))
    return words


def _pace(progress: Progress, pace: Pace) -> list[str]:
    pace.note(progress.done)
    remaining = max((progress.planned or 0) - progress.done, 0)
    left = pace.seconds_left(remaining)
    words = [f"{pace.rate:.1f}/s"] if pace.rate > 0 else []
    return [*words, f"{duration(left)} left"] if left and remaining else words
