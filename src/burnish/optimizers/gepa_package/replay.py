"""The `gepa` package run from its start over a journal, up to the first answer that is not there.

The package is used as it is: its own `optimize`, with an adapter and a reflection model as any user
would give it, and its own random numbers.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from typing import Any

import gepa.api

from burnish.optimizers.gepa_package.adapter import Desk, Row, Task
from burnish.optimizers.gepa_package.journal import Ended, Wanted

_optimize: Callable[..., Any] = gepa.api.optimize


class _Name(str):
    """A component's name whose hash is the same in every process.

    The package merges components in the order of a set of names; a resumed run must draw alike.
    """

    __slots__ = ()

    def __hash__(self) -> int:
        return zlib.crc32(self.encode())


class _Silence:
    def log(self, message: str) -> None:
        """The package tells every iteration; the framework has its own events."""


def replay(
    task: Task,
    settings: Mapping[str, Any],
    wait: Callable[[Wanted], Task | None],
    *,
    max_metric_calls: int | None,
) -> Ended:
    """Run the package to its end; Halt leaves it when `wait` or the model does not let it go on.

    Without `max_metric_calls` it also ends when it goes in circles; alone it would do so for ever.
    """
    facts = task.facts
    seed = {
        _Name(path): text
        for path, text in facts.baseline.sections.items()
        if facts.space.may_change(path)
    }
    if not seed:
        return Ended(message="there is no section that may be changed")
    desk = Desk(task, settings["reflection_minibatch_size"], wait)
    result = _optimize(
        seed_candidate=seed,
        trainset=[Row(item, validates=False) for item in task.train],
        valset=[Row(item, validates=True) for item in task.validation],
        adapter=desk,
        reflection_lm=desk.reflect,
        stop_callbacks=desk.goes_in_circles if max_metric_calls is None else None,
        max_metric_calls=max_metric_calls,
        logger=_Silence(),
        callbacks=[desk],
        track_best_outputs=False,
        seed=facts.seed,
        **settings,
    )
    why = (
        f"the last {desk.idle} iterations needed nothing new"
        if max_metric_calls is None
        else f"max_metric_calls = {max_metric_calls} is reached"
    )
    return Ended(
        message=f"the gepa package ended with {len(result.candidates)} candidates "
        f"after {result.total_metric_calls} metric calls: {why}"
    )
