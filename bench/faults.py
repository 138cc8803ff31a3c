"""Faults while an optimization runs: what of it was lost, doubled, blamed on a candidate, or hung.

Each fault hits a small run at one place. Whatever stops is resumed until it has ended, and its result
is compared with that of a run that nobody disturbed.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.processes import ROOT

sys.path.insert(0, str(ROOT / "tests" / "integration"))

from bench.fault_runs import KINDS, Disturbed, Fault, Reference

KEPT = ROOT / "build" / "bench" / "faults.jsonl"
OUTCOMES = ("lost", "doubled", "blamed", "hung")


def main(arguments: Sequence[str]) -> None:
    """Run what is not yet in the file, and print the table of all; exit 1 unless it is all zeros."""
    options = _parse(arguments)
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    done = {} if options.fresh or not KEPT.exists() else _read(KEPT)
    if options.fresh:
        KEPT.unlink(missing_ok=True)
    kinds = options.kinds.split(",") if options.kinds else list(KINDS)
    planned = list(plan(options.count, kinds, options.seed))
    with tempfile.TemporaryDirectory() as folder, KEPT.open("a", encoding="utf-8") as kept:
        reference = Reference(Path(folder))
        for fault in planned:
            if fault.key not in done:
                done[fault.key] = one = reference.try_fault(fault).to_json()
                kept.write(json.dumps({"key": fault.key, **one}) + "\n")
                kept.flush()
    found = [Disturbed(**done[fault.key]) for fault in planned]
    print(table(planned, found))
    if any(getattr(one, name) for one in found for name in OUTCOMES):
        raise SystemExit(1)


def plan(count: int, kinds: Sequence[str], seed: int) -> Iterator[Fault]:
    """So many faults: the kinds in turn, each at places drawn over the whole run."""
    for number in range(count):
        kind = kinds[number % len(kinds)]
        draw = random.Random(f"{seed}:{kind}:{number}")
        yield Fault(kind=kind, place=draw.random(), key=f"{seed}:{kind}:{number}")


def table(planned: Sequence[Fault], found: Sequence[Disturbed]) -> str:
    """A line for each kind of fault, and the sum."""
    lines = [
        f"{'fault':<24}{'tried':>7}{'resumed':>9}{'calls again':>13}"
        + "".join(f"{one:>9}" for one in OUTCOMES)
    ]
    by_kind: dict[str, list[Disturbed]] = {}
    for fault, one in zip(planned, found, strict=True):
        by_kind.setdefault(fault.kind, []).append(one)
    for name, some in (*by_kind.items(), ("all", list(found))):
        sums = Counter({key: sum(bool(getattr(one, key)) for one in some) for key in OUTCOMES})
        resumed = sum(one.attempts > 1 for one in some)
        cells = "".join(f"{sums[key]:>9,}" for key in OUTCOMES)
        again = sum(one.again for one in some)
        lines.append(f"{name:<24}{len(some):>7,}{resumed:>9,}{again:>13,}{cells}")
    for fault, one in zip(planned, found, strict=True):
        if any(getattr(one, key) for key in OUTCOMES):
            lines.append(f"  {fault.key} at {fault.place:.3f}: {one.note}")
    return "\n".join(lines)


def _read(path: Path) -> dict[str, dict[str, object]]:
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {row.pop("key"): row for row in rows}


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench faults", description=__doc__)
    parser.add_argument("--count", type=int, default=2000, help="how many faults")
    parser.add_argument("--seed", type=int, default=0, help="where they hit")
    parser.add_argument("--kinds", help=f"some of {','.join(KINDS)}")
    parser.add_argument("--fresh", action="store_true", help="forget what was tried before")
    return parser.parse_args(arguments)
