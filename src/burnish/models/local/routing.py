"""Who answers what: requests go where their leading text was read last, and none waits for ever.

An engine that has read a text before reads only what follows it, which is worth 3 to 8 times. So
when the requests of several prompts are mixed, each worker stays with its prompt for a while.
"""

from __future__ import annotations

from collections.abc import Sequence

LOOK_AHEAD = 64
# A jump ahead must save the reading of about a line of text, or first come is first served.
_WORTH_A_JUMP = 32
# So many requests may jump ahead of the oldest one before its turn comes.
MAX_JUMPS = 16


def common_prefix(one: str, other: str) -> int:
    """How many leading characters two texts share."""
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while low < high:  # halving, with comparisons at the speed of memory
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def choose_request(leads: Sequence[str], last: str, *, jumps: int) -> int:
    """Which of the waiting requests (oldest first) a worker takes that has just answered `last`.

    `jumps` counts how often the oldest has been passed over.
    """
    if jumps >= MAX_JUMPS:
        return 0
    shared = [common_prefix(lead, last) for lead in leads[:LOOK_AHEAD]]
    enough = max(shared) - _WORTH_A_JUMP
    return next(i for i, length in enumerate(shared) if length > enough)


def choose_worker(lead: str, workers: Sequence[tuple[str, bool]]) -> int:
    """Which of the free workers, given as (last leading text, running), takes a request.

    The one that read most of it, else one that runs: a process is started only when it must be.
    """
    return max(
        range(len(workers)),
        key=lambda i: (common_prefix(lead, workers[i][0]), workers[i][1], -i),
    )
