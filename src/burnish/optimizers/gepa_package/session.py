"""The `gepa` package's engine in a thread of its own, kept where it waits for an answer.

Running the engine again from its start is what a run means, and what a resumed process does. Within one
process that would make each step dearer than the one before; an engine that is kept comes to the same.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from queue import SimpleQueue
from threading import Thread
from typing import Any

from burnish.optimizers.gepa_package.adapter import Halt, Task
from burnish.optimizers.gepa_package.journal import Outcome, Wanted
from burnish.optimizers.gepa_package.replay import replay


class Session:
    """One engine at work. It ends with its last answer, or when nobody holds the session any more."""

    def __init__(self, settings: Mapping[str, Any], *, max_metric_calls: int | None) -> None:
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        self._outcomes: SimpleQueue[Outcome | Exception] = SimpleQueue()
        # The thread knows the queues and not the session, which could not be let go otherwise.
        self._thread = Thread(
            target=_work,
            args=(self._tasks, self._outcomes, dict(settings), max_metric_calls),
            name="gepa",
            daemon=True,
        )
        self._thread.start()
        weakref.finalize(self, self._tasks.put, None).atexit = False

    @property
    def waiting(self) -> bool:
        """Whether it can go on; a process that was forked has no such thread."""
        return self._thread.is_alive()

    def go_on(self, task: Task) -> Outcome:
        """Work with a journal that is longer than the last one, up to where it ends."""
        self._tasks.put(task)
        outcome = self._outcomes.get()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def _work(
    tasks: SimpleQueue[Task | None],
    outcomes: SimpleQueue[Outcome | Exception],
    settings: Mapping[str, Any],
    max_metric_calls: int | None,
) -> None:
    def wait(wanted: Wanted) -> Task | None:
        outcomes.put(wanted)
        return tasks.get()

    task = tasks.get()
    if task is None:
        return
    try:
        outcomes.put(replay(task, settings, wait, max_metric_calls=max_metric_calls))
    except Halt as halt:
        if halt.reason is not None:
            outcomes.put(halt.reason)
    except Exception as error:  # noqa: BLE001 - it is raised where the session is asked
        outcomes.put(error)
