"""Compression in a simulated world, against the plain algorithm of the contract."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from bench.results import Section
from burnish.benchmarks.compression import Compression, CompressWorld, run_compress, run_plain
from burnish.benchmarks.worlds import FIRST_REPORTED_SEED

SEEDS = range(FIRST_REPORTED_SEED, FIRST_REPORTED_SEED + 10)
RUNS = 3
FLAKY = {"steady items": 0.0, "15% flaky items": 0.15}


@dataclass(frozen=True)
class Duel:
    """One world: the better of the plain runs, and ours."""

    plain: Compression
    ours: Compression

    @property
    def ratio(self) -> float:
        """Our evaluations in terms of theirs."""
        return self.ours.evaluations / self.plain.evaluations


def run() -> Section:
    """Ten worlds each way, on seeds that were not used while tuning."""
    rows: list[list[object]] = []
    notes = [
        "16 sections and 40 items a world; every evaluation of the plain algorithm runs each item "
        f"{RUNS} times, and so do ours of the baseline and the result. Plain is given hard or light "
        "edits, one a section, and what saves more counts.",
        f"Seeds {SEEDS[0]} to {SEEDS[-1]}. Regressions are true ones, by the world's own chances.",
    ]
    for name, flaky in FLAKY.items():
        duels = [duel(seed, flaky) for seed in SEEDS]
        rows += [row(name, one) for one in duels]
        notes.append(summary(name, duels))
    return Section(
        name="compress",
        title="Compression in simulated worlds",
        command="python -m bench compress",
        columns=[
            *("world", "seed", "tokens", "plain saved", "burnish saved", "plain evaluations"),
            *("burnish evaluations", "ratio", "plain regressions", "burnish regressions"),
        ],
        rows=rows,
        notes=notes,
    )


def row(name: str, one: Duel) -> list[object]:
    plain, ours = one.plain, one.ours
    return [
        *(name, ours.seed, ours.tokens, plain.saved, ours.saved, plain.evaluations),
        *(ours.evaluations, f"{one.ratio:.2f}", plain.regressions, ours.regressions),
    ]


def duel(seed: int, flaky: float) -> Duel:
    """Each in a fresh copy of the world."""
    plain = [
        run_plain(CompressWorld(seed, flaky=flaky), strength, runs=RUNS)
        for strength in ("hard", "light")
    ]
    ours = run_compress(CompressWorld(seed, flaky=flaky), runs=RUNS)
    best = max(plain, key=lambda one: one.saved)
    print(f"  seed {seed}: {best.saved} and {ours.saved} tokens saved", file=sys.stderr)
    return Duel(best, ours)


def summary(name: str, duels: list[Duel]) -> str:
    behind = sum(one.ours.saved < one.plain.saved for one in duels)
    plain, ours = (sum(getattr(one, side).saved for one in duels) for side in ("plain", "ours"))
    spent = sum(one.ours.evaluations for one in duels) / sum(one.plain.evaluations for one in duels)
    return (
        f"{name}: {ours:,} tokens saved against {plain:,} (less in {behind} of {len(duels)} worlds), "
        f"with {spent:.2f} of the evaluations, at most {max(one.ratio for one in duels):.2f} in one "
        f"world; {sum(one.ours.regressions for one in duels)} regressions."
    )
