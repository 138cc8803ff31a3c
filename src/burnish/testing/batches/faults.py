"""Faults of a fake batch endpoint: what goes wrong, by the number of the batch or of the call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True, kw_only=True)
class BatchFaults:
    """What goes wrong. Numbers count from 0: of batches as they are taken, of submits as they come.

    `looks` is how often a batch is looked at until it has ended. A request whose place in the batch
    is in `expired(number)`'s answer is not done, and costs nothing; one in `errored` fails with that
    status; one in `dropped` gets no line at all, and one in `repeated` two. Submits in `cut` are taken
    without an answer, those in `refused` answered with a status and not taken.
    """

    looks: int = 1
    expired: Callable[[int, int], bool] = lambda _batch, _place: False
    dropped: Callable[[int, int], bool] = lambda _batch, _place: False
    repeated: Callable[[int, int], bool] = lambda _batch, _place: False
    errored: Callable[[int, int], int | None] = lambda _batch, _place: None
    cut: frozenset[int] = frozenset()
    refused: dict[int, int] = field(default_factory=dict)
