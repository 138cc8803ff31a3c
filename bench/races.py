"""Races replayed on real scores, without a model: blocks paid, test accuracy of the winner, regret.

The protocol, written down before the reporting half was looked at:

- Data: `data.jsonl` of `capo_blocks`: prompts of CAPO's own runs with their accuracies on 10 blocks of
  30 development items and on 500 test items. Prompts that have all 10 blocks and a test accuracy
  count. They were survivors of CAPO's races, so they lie closer together than proposals do.
- A task is a dataset with a model. Of the tasks in order of their names, every other one, from the
  first on, is for tuning, the rest for reporting.
- Groups: 10, 20 or 40 prompts of one run (study, dataset, model, variant and seed), in a drawn order,
  with a drawn order of blocks; 50 groups for each task and size, seeds 0 to 49. A task whose runs are
  all smaller than a size has no groups of it.
- A block's accuracy stands for an item's score: which of its items were answered is not in the data.
- `no race`: all blocks of all prompts. `ours`: the first prompt is the baseline and runs all blocks;
  the others race in steps, by the product's own blocks, race and choice (`StepRace`,
  `Racing`, `Ranking`). `conservative` with the group as one step, `aggressive` with steps of 4,
  the product's default; the other two for comparison. Their alphas, 0.05 and
  0.2, are those that the modes had before.
- `CAPO`: all start together; after each block whoever is worse than another by a paired t-test,
  one-sided at 0.2, is out, until one is left or all blocks have run. On block accuracies the test
  needs two of them; `CAPO, items` tests from the first on, by the binomial variance of 30
  items, without pairs. No length penalty.
- `halving`: the better half stays after 1, 2, 4 and 8 blocks; what is left runs all.
- Blocks: all that were paid, as a share of those of no race. Accuracy and regret (against the best test
  accuracy of the group): means over groups, then tasks, then sizes, in points.
- CAPO's blocks at the same regret: between its results at levels from 0.01 to 0.5, in a straight line.
- To show: with at most 0.35 of the blocks, test accuracy within 0.3 points of no race; not more blocks
  than CAPO's rule takes for the same regret.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from statistics import NormalDist, fmean, variance

from burnish.optimization.experiments.step_race import StepRace
from burnish.optimization.objective import Measures, Point, Ranking
from burnish.optimization.racing import Racing, RacingMode

SIZES = (10, 20, 40)
SEEDS = 50
LEVELS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
_ITEMS = 30
_HALVINGS = (1, 2, 4, 8)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as it was measured; `blocks` stand in the order in which they are run."""

    blocks: tuple[float, ...]
    test: float
    words: int


@dataclass(frozen=True, slots=True)
class Raced:
    """What a race paid, and which prompt it chose."""

    paid: int
    winner: int


Rule = Callable[[Sequence[Prompt]], Raced]
Task = tuple[str, str]


def main(arguments: Sequence[str]) -> None:
    """Replay all rules on a half of the tasks, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench races")
    parser.add_argument("--data", type=Path, required=True, help="the folder of capo_blocks")
    parser.add_argument("--half", choices=("reporting", "tuning"), default="reporting")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    options = parser.parse_args(arguments)
    tasks = read_tasks(options.data)
    names = sorted(tasks)[options.half == "reporting" :: 2]
    print(f"{options.half}: {', '.join('/'.join(one) for one in names)}")
    report({name: tasks[name] for name in names}, options.seeds)


def read_tasks(folder: Path) -> dict[Task, list[list[Prompt]]]:
    """The runs of each task with their prompts that were measured in full."""
    runs: dict[tuple[str, ...], list[Prompt]] = defaultdict(list)
    for line in (folder / "data.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["test"] is not None and None not in row["blocks"]:
            key = (row["dataset"], row["model"], row["study"], row["variant"], str(row["seed"]))
            runs[key].append(Prompt(tuple(row["blocks"]), row["test"], row["words"]))
    tasks: dict[Task, list[list[Prompt]]] = defaultdict(list)
    for key in sorted(runs):
        tasks[key[0], key[1]].append(runs[key])
    return dict(tasks)


def groups(
    runs: Sequence[list[Prompt]], name: Task, size: int, seeds: int
) -> Iterator[list[Prompt]]:
    """Groups of a task, drawn by seed."""
    fitting = [run for run in runs if len(run) >= size]
    for seed in range(seeds if fitting else 0):
        draw = random.Random(f"races:{'/'.join(name)}:{size}:{seed}")
        drawn = draw.sample(draw.choice(fitting), size)
        order = draw.sample(range(len(drawn[0].blocks)), len(drawn[0].blocks))
        yield [Prompt(tuple(one.blocks[at] for at in order), one.test, one.words) for one in drawn]


def chosen(group: Sequence[Prompt], among: Sequence[int]) -> int:
    """The product's choice among prompts that ran all blocks."""
    points = [
        Point(
            candidate_id=str(number),
            number=number,
            score=fmean(group[number].blocks),
            measures=Measures(),
            length=group[number].words,
        )
        for number in among
    ]
    best = Ranking().best(points)
    assert best is not None
    return best.number


def no_race(group: Sequence[Prompt]) -> Raced:
    return Raced(len(group) * len(group[0].blocks), chosen(group, range(len(group))))


def ours(group: Sequence[Prompt], *, mode: RacingMode, step: int | None) -> Raced:
    """The product's race: a baseline, then steps of so many, or one of all."""
    racing = Racing(mode=mode, block_size=1)
    blocks = [f"{number:02}" for number in range(len(group[0].blocks))]
    scores = [dict(zip(blocks, one.blocks, strict=True)) for one in group]
    paid, done, best = len(blocks), [0], 0
    wide = step or len(group)
    for start in range(1, len(group), wide):
        members = range(start, min(start + wide, len(group)))
        ran = asyncio.run(_run_step(racing, {one: scores[one] for one in members}, scores[best]))
        paid += sum(ran.values())
        done += [one for one, many in ran.items() if many == len(blocks)]
        best = chosen(group, done)
    return Raced(paid, best)


async def _run_step(
    racing: Racing, members: Mapping[int, Mapping[str, float]], incumbent: Mapping[str, float]
) -> dict[int, int]:
    """How many blocks each member of a step ran."""
    race = StepRace(racing, [str(one) for one in members])
    blocks = racing.blocks(list(incumbent), seed=0)
    order = [item for block in blocks for item in block]

    async def run(member: int) -> int:
        for number in range(1, len(blocks)):
            reached = {item: members[member][item] for item in order[:number]}
            if await race.after_block(str(member), reached, incumbent, order) is not None:
                race.leave(str(member))
                return number
        race.leave(str(member))
        return len(blocks)

    ran = await asyncio.gather(*map(run, members))
    return dict(zip(members, ran, strict=True))


def capo(group: Sequence[Prompt], *, level: float, items: bool = False) -> Raced:
    """CAPO's race for one survivor."""
    alive, paid, number = list(range(len(group))), 0, 0
    while len(alive) > 1 and number < len(group[0].blocks):
        number += 1
        paid += len(alive)
        better = partial(_beats_by_items if items else _beats, level=level)
        seen = {one: group[one].blocks[:number] for one in alive}
        alive = [one for one in alive if not any(better(seen[other], seen[one]) for other in alive)]
    return Raced(paid, max(alive, key=lambda one: fmean(group[one].blocks[:number])))


def _beats(first: Sequence[float], second: Sequence[float], *, level: float) -> bool:
    """A paired t-test of block accuracies."""
    differences = [one - other for one, other in zip(first, second, strict=True)]
    if len(differences) < 2:
        return False
    deviation = math.sqrt(variance(differences) / len(differences))
    return fmean(differences) > deviation * _critical(level, len(differences) - 1)


def _beats_by_items(first: Sequence[float], second: Sequence[float], *, level: float) -> bool:
    """A test of two shares of as many items, without pairs."""
    one, other = fmean(first), fmean(second)
    spread = (one * (1 - one) + other * (1 - other)) / (_ITEMS * len(first))
    return one - other > math.sqrt(spread) * NormalDist().inv_cdf(1 - level)


@cache
def _critical(level: float, freedom: int) -> float:
    """The point that Student's t exceeds with the probability `level`, by Simpson's rule."""
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2))
    scale /= math.sqrt(freedom * math.pi)

    def above(point: float, steps: int = 400) -> float:
        width = point / steps
        heights = [
            (1 + (number * width) ** 2 / freedom) ** (-(freedom + 1) / 2)
            * (1 if number in (0, steps) else 4 if number % 2 else 2)
            for number in range(steps + 1)
        ]
        return 0.5 - scale * sum(heights) * width / 3

    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if above(middle) > level else (low, middle)
    return high


def halving(group: Sequence[Prompt]) -> Raced:
    alive, paid, ran = list(range(len(group))), 0, 0
    for upto in _HALVINGS:
        paid, ran = paid + len(alive) * (upto - ran), upto
        order = sorted(alive, key=lambda one: -fmean(group[one].blocks[:ran]))
        alive = order[: max(len(alive) // 2, 1)]
    paid += len(alive) * (len(group[0].blocks) - ran)
    return Raced(paid, chosen(group, sorted(alive)))


RULES: dict[str, Rule] = {
    "no race": no_race,
    "ours, conservative, one step": partial(ours, mode=RacingMode.CONSERVATIVE, step=None),
    "ours, aggressive, steps of 4": partial(ours, mode=RacingMode.AGGRESSIVE, step=4),
    "ours, conservative, steps of 4": partial(ours, mode=RacingMode.CONSERVATIVE, step=4),
    "ours, aggressive, one step": partial(ours, mode=RacingMode.AGGRESSIVE, step=None),
    "CAPO": partial(capo, level=0.2),
    "CAPO, items": partial(capo, level=0.2, items=True),
    "halving": halving,
}


@dataclass(frozen=True, slots=True)
class Row:
    """A rule over all groups: the share of blocks by size and of all, and points."""

    by_size: tuple[float, ...]
    share: float
    test: float
    regret: float


def measure(rule: Rule, drawn: Mapping[int, Mapping[Task, Sequence[list[Prompt]]]]) -> Row:
    """Replay a rule on all groups of all tasks, by size."""
    shares, tests, regrets, paid, whole = [], [], [], 0, 0
    for tasks in drawn.values():
        paid_here = whole_here = 0
        test, regret = [], []
        for some in tasks.values():
            raced = [(rule(group), group) for group in some]
            paid_here += sum(one.paid for one, _ in raced)
            whole_here += sum(len(group) * len(group[0].blocks) for _, group in raced)
            test.append(fmean(group[one.winner].test for one, group in raced))
            most = fmean(max(prompt.test for prompt in group) for _, group in raced)
            regret.append(most - test[-1])
        shares.append(paid_here / whole_here)
        tests.append(fmean(test))
        regrets.append(fmean(regret))
        paid, whole = paid + paid_here, whole + whole_here
    return Row(tuple(shares), paid / whole, 100 * fmean(tests), 100 * fmean(regrets))


def at_same_regret(regret: float, curve: Sequence[Row]) -> float | None:
    """The share of blocks at which a curve has this regret; None beyond its ends."""
    points = sorted((one.regret, one.share) for one in curve)
    for (low, dear), (high, cheap) in pairwise(points):
        if low <= regret <= high:
            part = (regret - low) / (high - low) if high > low else 0.0
            return dear + part * (cheap - dear)
    return None


def report(tasks: Mapping[Task, Sequence[list[Prompt]]], seeds: int) -> None:
    drawn = {
        size: {
            name: some
            for name, runs in tasks.items()
            if (some := list(groups(runs, name, size, seeds)))
        }
        for size in SIZES
    }
    print(", ".join(f"{len(found)} tasks with groups of {size}" for size, found in drawn.items()))
    curves = {
        name: [measure(partial(capo, level=level, items=items), drawn) for level in LEVELS]
        for name, items in (("CAPO", False), ("CAPO, items", True))
    }
    sizes = " | ".join(f"blocks of {size}" for size in SIZES)
    same = " | ".join(f"{name} at this regret" for name in curves)
    print(f"| rule | {sizes} | blocks | test accuracy | to no race | regret | {same} |")
    print("| --- " * (6 + len(SIZES) + len(curves) - 1) + "|")
    base = measure(no_race, drawn)
    for name, rule in RULES.items():
        row = measure(rule, drawn)
        cells = [f"{share:.3f}" for share in (*row.by_size, row.share)]
        cells += [f"{row.test:.2f}", f"{row.test - base.test:+.2f}", f"{row.regret:.2f}"]
        found = [at_same_regret(row.regret, curve) for curve in curves.values()]
        cells += ["" if one is None else f"{one:.3f}" for one in found]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
