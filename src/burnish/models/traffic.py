"""Model traffic of one run: calls under way, retries and pauses, for displays and results."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import count

from burnish.domain.wording import counted

# A call that takes longer than this is worth a word.
_LONG_SECONDS = 10.0


@dataclass(eq=False, slots=True)
class BatchWait:
    """A batch that is waited for; `answered` is how many of its requests are, as the vendor says."""

    model: str
    requests: int
    since: float
    answered: int = 0

    def in_words(self, now: float) -> str:
        """What is waited for, and how far it is."""
        number = f"{counted(self.requests, 'request')}"
        seconds = max(now - self.since, 0.0)
        return (
            f"waiting for a batch of {number} of {self.model} since {seconds:.0f} s, "
            f"{self.answered:,} answered"
        )


@dataclass(eq=False, slots=True)
class Traffic:
    """What endpoints are asked on behalf of a run. Calls write it, a display in a thread reads it.

    `retries` counts attempts that were made again, by why the one before failed. `notices` are what a
    user should know of how models were asked, each once. `run_id` is the run's, where it has one.
    """

    run_id: str | None = None
    retries: Counter[str] = field(default_factory=Counter)
    paused_seconds: float = 0.0
    notices: dict[str, None] = field(default_factory=dict)
    _under_way: dict[int, tuple[str, float]] = field(default_factory=dict)
    _pauses: dict[str, tuple[float, str]] = field(default_factory=dict)
    _batches: dict[int, BatchWait] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=count)

    @contextmanager
    def call(self, model: str) -> Iterator[None]:
        """One attempt at one call is under way within the block."""
        number = next(self._numbers)
        self._under_way[number] = model, time.monotonic()
        try:
            yield
        finally:
            del self._under_way[number]

    def notice(self, words: str) -> None:
        """Tell something, unless it was told before."""
        self.notices[words] = None

    @contextmanager
    def batch(self, wait: BatchWait) -> Iterator[None]:
        """A batch is waited for within the block."""
        number = next(self._numbers)
        self._batches[number] = wait
        try:
            yield
        finally:
            del self._batches[number]

    def retried(self, why: str) -> None:
        """An attempt failed and another is made."""
        self.retries[why] += 1

    def paused(self, model: str, seconds: float, why: str) -> None:
        """Nothing new is sent for a while."""
        now = time.monotonic()
        until = max(now + seconds, self._pauses.get(model, (0.0, ""))[0])
        self.paused_seconds += until - max(now, self._pauses.get(model, (now, ""))[0])
        self._pauses[model] = until, why

    def waiting(self, now: float | None = None) -> list[str]:
        """In words, what is waited for and why; nothing while calls are answered as usual."""
        now = time.monotonic() if now is None else now
        words = [
            f"{model} pauses for {until - now:.0f} s more: {why}"
            for model, (until, why) in list(self._pauses.items())
            if until > now
        ]
        words += [wait.in_words(now) for wait in list(self._batches.values())]
        late: dict[str, list[float]] = {}
        for model, since in list(self._under_way.values()):
            if now - since >= _LONG_SECONDS:
                late.setdefault(model, []).append(now - since)
        words += [
            f"waiting for {counted(len(ages), 'call')} of {model} since {max(ages):.0f} s"
            for model, ages in late.items()
        ]
        return [*words, self.tried_again] if words and self.retries else words

    @property
    def tried_again(self) -> str:
        """In words, what was tried again and why; empty where nothing was."""
        number = self.retries.total()
        if not number:
            return ""
        why = ", ".join(f"{times:,} × {one}" for one, times in self.retries.most_common(3))
        return f"{counted(number, 'call')} tried again ({why})"

    def to_json(self) -> dict[str, object]:
        """As results have it."""
        return {
            "retries": self.retries.total(),
            "by_reason": dict(self.retries),
            "paused_seconds": round(self.paused_seconds, 3),
            **({"notices": list(self.notices)} if self.notices else {}),
        }


_current: ContextVar[Traffic | None] = ContextVar("traffic", default=None)


@contextmanager
def counting(traffic: Traffic) -> Iterator[None]:
    """Calls that are made within the block, by tasks started there too, count here."""
    token = _current.set(traffic)
    try:
        yield
    finally:
        _current.reset(token)


def current_traffic() -> Traffic:
    """That of the run which is under way; calls of nobody are counted nowhere."""
    return _current.get() or Traffic()
