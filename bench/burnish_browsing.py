"""Opens, lists and shows a long optimization, for the first time and again. Prints JSON."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from itertools import pairwise

from burnish.app.wiring import Workspace

EVENTS = 1000


async def browse(path: str, identity: str, trials: int) -> dict[str, float]:
    """Milliseconds of each, on the clock and of CPU."""
    stamps = [_now()]
    async with Workspace.open(path) as workspace:
        optimizations = workspace.optimizations
        await optimizations.get_optimization(identity)
        stamps.append(_now())
        listed = await optimizations.list_optimizations()
        stamps.append(_now())
        record = await optimizations.get_optimization(identity)
        candidates = await optimizations.list_candidates(identity)
        results = await optimizations.list_trials(identity)
        rejections = await optimizations.list_rejections(identity)
        events = await optimizations.list_events(identity, limit=EVENTS)
        stamps.append(_now())
    assert [one.id for one in listed] == [identity]
    assert (record.trials, len(candidates), len(results)) == (trials, trials + 1, trials + 1)
    assert rejections
    assert len(events) == min(EVENTS, 2 * trials)
    spans = zip(("open", "list", "show"), pairwise(stamps), strict=True)
    return {
        key: value
        for name, (start, end) in spans
        for key, value in ((name, end[0] - start[0]), (f"{name}_cpu", end[1] - start[1]))
    }


def _now() -> tuple[float, float]:
    return time.perf_counter() * 1000, time.process_time() * 1000


def main() -> None:
    path, identity, trials = sys.argv[1], sys.argv[2], int(sys.argv[3])
    first = asyncio.run(browse(path, identity, trials))
    again = asyncio.run(browse(path, identity, trials))
    print(json.dumps({"first": first, "again": again}))


main()
