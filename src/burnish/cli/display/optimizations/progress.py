"""A search as it goes on: a live display on a terminal, a line for each trial elsewhere."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from dataclasses import replace

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from burnish.cli.display.evaluation_progress import Pace
from burnish.cli.search import EndedTrial, SearchWatch, Standing
from burnish.cli.wording import duration, money, one_line, rationale_words
from burnish.domain import ExperimentStatus
from burnish.domain.wording import counted
from burnish.optimization.checkpoint import Phase

_FRAMES_A_SECOND = 6
_LOOKS_A_SECOND = 4
_SECONDS_BETWEEN_LINES = 15.0
_BAR_WIDTH = 28
_COMPLETED = ExperimentStatus.COMPLETED


@contextlib.contextmanager
def showing_search(console: Console, watch: SearchWatch) -> Iterator[None]:
    """Show the search while the block runs, from a thread: an agent may block the event loop."""
    pace = Pace()
    if console.is_terminal and not console.is_dumb_terminal:
        with Live(
            get_renderable=lambda: frame(watch, pace),
            console=console,
            refresh_per_second=_FRAMES_A_SECOND,
            transient=True,
        ):
            yield
        return
    ended = threading.Event()
    lines = _Lines(console, watch, pace)
    thread = threading.Thread(target=lines.print_until, args=(ended,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def frame(watch: SearchWatch, pace: Pace) -> RenderableType:
    """The live display at this moment."""
    standing = watch.standing()
    if standing is None:
        return Text(f"{watch.title or 'preparing'} …", style="dim")
    share, used = _used(watch, standing)
    head = Table.grid(padding=(0, 2))
    head.add_column(no_wrap=True)
    head.add_column(no_wrap=True)
    head.add_column(max_width=_BAR_WIDTH)
    cells: list[RenderableType] = [Text(watch.title, style="bold"), Text(_phase(standing))]
    if share is not None:
        cells.append(ProgressBar(total=1.0, completed=min(share, 1.0)))
    head.add_row(*cells)
    # A line of its own: beside the bar it would break in a terminal of 80 columns.
    pace_words = "".join(f"  {words}" for words in _pace(standing, pace, share))
    spent = Text.assemble(used, (pace_words, "dim"))
    facts = Text(_leader(watch, standing), style="bold cyan")
    facts.append(f"  {_trials(standing)}", style="dim")
    if standing.cost_usd:
        facts.append(f"  {money(standing.cost_usd)}", style="dim")
    rows: list[RenderableType] = [head, spent, facts]
    rows += [Text(words, style="yellow") for words in standing.waiting]
    best = standing.best
    if best is not None and best.number and best.candidate_id in standing.candidates:
        words = rationale_words(standing.candidates[best.candidate_id].rationale, 110)
        rows.append(Text(f"candidate {best.number}: {words}", style="dim"))
    return Group(*rows)


def trial_line(watch: SearchWatch, standing: Standing, trial: EndedTrial, pace: Pace) -> str:
    """What one trial came to, and where the search stands after it."""
    score = "" if trial.score is None else f"{trial.score:.3f}"
    name = f"trial {trial.number}" if trial.number else "baseline"
    parts = [
        f"{name:<9} {trial.status.value:<9} {score:<5}",
        one_line(trial.error or "", 120),
        _leader(watch, standing) if trial.number else "",
        _used(watch, standing)[1],
        *_pace(standing, pace, None),
    ]
    return "  ".join(part for part in parts if part.strip())


class _Lines:
    """Prints each trial once, and now and then that the search is alive."""

    def __init__(self, console: Console, watch: SearchWatch, pace: Pace) -> None:
        self._console = console
        self._watch = watch
        self._pace = pace
        self._told: set[str] = set()
        self._quiet_since = time.monotonic()
        self._confirming = False

    def print_until(self, ended: threading.Event) -> None:
        while not ended.wait(1 / _LOOKS_A_SECOND):
            self._look()
        self._look()

    def _look(self) -> None:
        standing = self._watch.standing()
        if standing is None:
            return
        trials = [one for one in (standing.baseline, *standing.trials) if one is not None]
        self._pace.note(standing.evaluations)
        told = self._told | self._watch.ended_before
        new = [one for one in trials if one.experiment_id not in told]
        for trial in new:
            self._told.add(trial.experiment_id)
            known = self._told | self._watch.ended_before
            so_far = tuple(one for one in standing.trials if one.experiment_id in known)
            then = replace(standing, trials=so_far)
            self._say(trial_line(self._watch, then, trial, self._pace))
        if not new and time.monotonic() - self._quiet_since > _SECONDS_BETWEEN_LINES:
            used = _used(self._watch, standing)[1]
            words = [_phase(standing), used, *_pace(standing, self._pace, None), *standing.waiting]
            self._say("  ".join(words))
        if standing.phase is Phase.CONFIRM and not standing.running and not self._confirming:
            self._confirming = True
            self._say(_phase(standing))

    def _say(self, line: str) -> None:
        self._quiet_since = time.monotonic()
        self._console.print(line, soft_wrap=True)


def _phase(standing: Standing) -> str:
    if standing.phase is Phase.BASELINE:
        return "baseline"
    if standing.phase is Phase.CONFIRM:
        return "comparing with the baseline on held-out items"
    return f"step {standing.step}"


def _leader(watch: SearchWatch, standing: Standing) -> str:
    """What is best so far: by its score, or by its length where that is what counts."""
    latest = next(reversed(standing.trials), None)
    if not watch.shortens or latest is None or latest.candidate_id not in standing.candidates:
        return _best(standing)
    # Only compressions need it.
    from burnish.optimizers.compress.examples import part_tokens, parts_of  # noqa: PLC0415

    configuration = standing.candidates[latest.candidate_id].configuration
    tokens = sum(part_tokens(configuration, path) for path in parts_of(configuration))
    return f"best: {tokens:,} tokens, nothing regressed"


def _best(standing: Standing) -> str:
    best, baseline = standing.best, standing.baseline
    if best is None or best.score is None:
        return ""
    if baseline is None or baseline.score is None or not best.number:
        return f"best {best.score:.3f} (the baseline)"
    change = best.score - baseline.score
    return f"best {best.score:.3f} by {best.number} (baseline {baseline.score:.3f}, {change:+.3f})"


def _trials(standing: Standing) -> str:
    words = [f"{standing.running} running"] if standing.running else []
    words.append(f"{standing.count(_COMPLETED)} completed")
    for number, name in (
        (standing.count(ExperimentStatus.PRUNED), "pruned"),
        (standing.failed, "failed"),
        (standing.refused, "refused"),
    ):
        if number:
            words.append(f"{number} {name}")
    return "trials: " + " · ".join(words)


def _used(watch: SearchWatch, standing: Standing) -> tuple[float | None, str]:
    """The share of the budget that is used, by its nearest limit, and the evaluations in words."""
    budget = watch.budget
    spent = (
        (budget.max_trials, len(standing.trials)),
        (budget.max_evaluations, standing.evaluations),
        (budget.max_cost_usd, standing.cost_usd or 0.0),
        (budget.max_seconds, standing.seconds),
    )
    share = max((used / limit for limit, used in spent if limit), default=None)
    if budget.max_evaluations:
        words = f"{standing.evaluations:,}/{counted(budget.max_evaluations, 'evaluation')}"
    else:
        words = counted(standing.evaluations, "evaluation")
    if budget.max_trials:
        words += f", {len(standing.trials)}/{counted(budget.max_trials, 'trial')}"
    return share, words


def _pace(standing: Standing, pace: Pace, share: float | None) -> list[str]:
    pace.note(standing.evaluations)
    words = [f"{pace.rate:.1f}/s"] if pace.rate > 0 else []
    words.append(duration(standing.seconds))
    if share and 0.05 < share < 1 and standing.phase is Phase.SEARCH:
        words.append(f"about {duration(standing.seconds * (1 / share - 1))} left")
    return words
