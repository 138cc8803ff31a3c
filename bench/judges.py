"""Simulated judges with known bias: whether `judge check` finds each, and its intervals cover."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

from bench.results import Section
from burnish.evaluation.judging.agreement import cohens_kappa
from burnish.evaluation.judging.check import JudgeReport, check_judge
from burnish.evaluation.judging.labels import LabelledRow
from burnish.evaluation.judging.probes import Answer, Probe

SIMULATIONS = 1_000
ROWS = 120
# How often an unbiased judge says of a good output that it passes, and of a bad one that it does not.
RIGHT = 0.85
GOOD = 0.6
SPREAD = 0.12
Draw = Callable[[random.Random], float]


@dataclass(frozen=True)
class Simulated:
    """A judge of known bias. Verdicts of single outputs are a score around 0.75 or 0.25.

    `length` is what an output said twice gains, `lenient` what all gain, `order` how much more often
    the first of two wins, `noise` how often a verdict is drawn by chance at each asking.
    """

    rng: random.Random
    pairwise: bool = False
    length: float = 0.0
    lenient: float = 0.0
    order: float = 0.0
    noise: float = 0.0
    name: str = "simulated"

    def asks(self, probe: Probe, row: LabelledRow) -> bool:
        """All but the position, for which it has no bias."""
        return probe is not Probe.POSITION

    async def answer(self, row: LabelledRow, probe: Probe, repeat: int) -> Answer:
        """A verdict on a row; what is the row's own is drawn from its id, the rest anew."""
        if self.pairwise:
            return self._choice(row, probe)
        own = float(row.fields["score"])  # type: ignore[arg-type]
        value = own + self.lenient + self.length * (probe is Probe.LENGTH)
        if self.noise and self.rng.random() < self.noise:
            value = 0.25 + 0.5 * (self.rng.random() < 0.5)
        value = min(max(value + self.rng.gauss(0, 0.02), 0.0), 1.0)
        return Answer(value=value, passed=value >= 0.5)

    def _choice(self, row: LabelledRow, probe: Probe) -> Answer:
        chance = float(row.fields["chance"])  # type: ignore[arg-type]
        chance += self.order / 2 * (-1 if probe is Probe.ORDER else 1)
        won = float(self.rng.random() < chance)
        return Answer(value=won, passed=won > 0)


def rows_of(rng: random.Random, *, pairwise: bool = False) -> list[LabelledRow]:
    """Labelled outputs, on which an unbiased judge is right 85 times in 100."""
    found = []
    for number in range(ROWS):
        good = rng.random() < (0.5 if pairwise else GOOD)
        right = rng.random() < RIGHT
        score = (0.75 if good == right else 0.25) + rng.gauss(0, SPREAD / 3)
        chance = RIGHT if good else 1 - RIGHT
        found.append(
            LabelledRow(
                id=str(number),
                output="an answer",
                label=float(good),
                fields={"score": score, "chance": chance},
                other="another" if pairwise else None,
            )
        )
    return found


@dataclass
class Tally:
    """How often an interval held the truth, and left 0 out on the right side."""

    name: str
    truth: float
    held: int = 0
    found: int = 0
    wrong: int = 0
    total: int = 0

    def add(self, low: float, high: float) -> None:
        """One interval."""
        self.total += 1
        self.held += low <= self.truth <= high
        self.found += (low > 0) if self.truth > 0 else (high < 0)
        self.wrong += (high < 0) if self.truth > 0 else (low > 0)

    def row(self) -> list[str]:
        """For the table."""
        many = self.total
        return [
            self.name,
            f"{self.truth:+.3f}",
            f"{self.held / many:.1%}",
            "" if self.truth == 0 else f"{self.found / many:.1%}",
            f"{self.wrong / many:.1%}",
        ]


def simulate(simulations: int) -> list[Tally]:
    """All judges, each so often on rows of its own."""
    return [
        *_effects("leniency", 0.30, "leniency", simulations, lenient=0.30),
        *_effects("leniency", -0.30, "severity", simulations, lenient=-0.30),
        *_effects("length", 0.10, "length", simulations, length=0.10),
        *_effects("length", -0.10, "brevity", simulations, length=-0.10),
        *_orders(simulations),
        _noise(simulations),
        _unbiased(simulations),
        _kappa(simulations),
    ]


def _report(seed: str, *, pairwise: bool = False, **bias: float) -> JudgeReport:
    rng = random.Random(seed)
    judge = Simulated(rng, pairwise=pairwise, **bias)
    probes = (Probe.ORDER,) if pairwise else (Probe.LENGTH,) if "length" in bias else ()
    repeats = 2 if "noise" in bias else 1
    return asyncio.run(
        check_judge(judge, rows_of(rng, pairwise=pairwise), probes=probes, repeats=repeats)
    )


def _effects(effect: str, size: float, name: str, simulations: int, **bias: float) -> list[Tally]:
    truth = size if effect == "length" else _leniency(size)
    tally = Tally(f"{name}, {size:+.2f} on the score", truth)
    for number in range(simulations):
        found = _report(f"{name} {number}", **bias).effect(effect)
        assert found is not None
        tally.add(found.interval.low, found.interval.high)
    return [tally]


def _leniency(shift: float) -> float:
    """By how much more often it passes an output than people do, in truth."""
    normal = NormalDist(0, (SPREAD**2 / 9 + 0.02**2) ** 0.5)
    high = 1 - normal.cdf(0.5 - 0.75 - shift)
    low = 1 - normal.cdf(0.5 - 0.25 - shift)
    passes = GOOD * (RIGHT * high + (1 - RIGHT) * low)
    passes += (1 - GOOD) * (RIGHT * low + (1 - RIGHT) * high)
    return passes - GOOD


def _orders(simulations: int) -> list[Tally]:
    """Preference of the first, and what of it is left in the win rate of both orders."""
    tallies = [
        Tally("order, the first wins 20 % more often", 0.2),
        Tally("order, the second wins 20 % more often", -0.2),
        Tally("win rate less 0.5, both orders, equal outputs", 0.0),
        Tally("win rate less 0.5, one order, equal outputs", 0.0),
    ]
    for number in range(simulations):
        for tally in tallies[:2]:
            found = _report(f"{tally.name} {number}", pairwise=True, order=tally.truth).effect(
                "order"
            )
            assert found is not None
            tally.add(found.interval.low, found.interval.high)
        both, one = _win_rates(number)
        tallies[2].add(*both)
        tallies[3].add(*one)
    return tallies


def _win_rates(number: int) -> tuple[tuple[float, float], tuple[float, float]]:
    """Intervals of the win rate less 0.5 by a judge that prefers the first, between equals."""
    from burnish.evaluation.pairwise import WinRate  # noqa: PLC0415

    rng = random.Random(f"win rate {number}")
    first = [float(rng.random() < 0.6) for _ in range(ROWS)]
    second = [float(rng.random() < 0.4) for _ in range(ROWS)]
    found = []
    for values in ([(a + b) / 2 for a, b in zip(first, second, strict=True)], first):
        rate = WinRate.of("judge", {str(n): [value] for n, value in enumerate(values)})
        assert rate is not None
        found.append((rate.interval.low - 0.5, rate.interval.high - 0.5))
    return found[0], found[1]


def _noise(simulations: int) -> Tally:
    """Two askings differ where one or both were drawn by chance and fell otherwise."""
    noise = 0.3
    once = noise / 2  # a drawn verdict is the other one half the time
    tally = Tally("noise, 30 % of verdicts drawn by chance", 2 * once * (1 - once))
    for number in range(simulations):
        found = _report(f"noise {number}", noise=noise).noise
        assert found is not None
        tally.add(found.interval.low, found.interval.high)
    return tally


def _unbiased(simulations: int) -> Tally:
    tally = Tally("no bias of length", 0.0)
    for number in range(simulations):
        found = _report(f"none {number}", length=0.0).effect("length")
        assert found is not None
        tally.add(found.interval.low, found.interval.high)
    return tally


def _kappa(simulations: int) -> Tally:
    """An unbiased judge's agreement beyond chance."""
    passes = GOOD * RIGHT + (1 - GOOD) * (1 - RIGHT)
    chance = GOOD * passes + (1 - GOOD) * (1 - passes)
    tally = Tally("Cohen's kappa", (RIGHT - chance) / (1 - chance))
    for number in range(simulations):
        rng = random.Random(f"kappa {number}")
        table = {label: {"pass": 0, "fail": 0} for label in ("pass", "fail")}
        for _ in range(ROWS):
            label = "pass" if rng.random() < GOOD else "fail"
            right = rng.random() < RIGHT
            table[label][label if right else "fail" if label == "pass" else "pass"] += 1
        found = cohens_kappa(table)
        assert found is not None
        tally.add(found.interval.low, found.interval.high)
    return tally


def run() -> Section:
    """The table."""
    return Section(
        name="judges",
        title="Simulated judges with known bias",
        command="python -m bench judges",
        columns=["what", "truth", "intervals that hold it", "found", "found with the wrong sign"],
        rows=[one.row() for one in simulate(SIMULATIONS)],
        notes=[
            f"{SIMULATIONS:,} simulations each of `burnish judge check` on {ROWS} labelled rows; 95 % "
            "intervals. Found: the interval leaves 0 out, on the right side.",
            "The win rate in both orders has no bias of order left; in one order it has.",
        ],
    )
