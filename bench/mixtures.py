"""Optimizers in the mixture worlds, with options; a run that was broken off goes on where it was."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Iterable, Sequence
from statistics import median

from bench.processes import ROOT
from bench.results import Section, save
from burnish.benchmarks.comparison import Plan, compare
from burnish.benchmarks.contestants import Contestant, contestants
from burnish.benchmarks.curves import Curve
from burnish.benchmarks.summary import Standing, standings
from burnish.benchmarks.worlds.mixtures import MIXTURES, SETS

KEPT = ROOT / "build" / "bench" / "mixtures.jsonl"
PACKAGE = ROOT / "src" / "burnish"
LOSS = 0.05
NAMES = "gepa,gepa_package,gepa_package_merge,gepa_package_2x2,gepa_package_2x4"


def main(arguments: Sequence[str]) -> None:
    """Run what is not yet in the file, and print all of it."""
    options = parse(arguments)
    os.environ.setdefault("BURNISH_BENCH_VENVS", str(ROOT / ".bench-venvs"))
    chosen = contestants(options.contestants.split(","))
    codes = {one.name: code_of(one) for one in chosen}
    plan = Plan(
        worlds=options.worlds.split(",")
        if options.worlds
        else [one.name for one in SETS[options.set]],
        contestants=chosen,
        seeds=seeds_of(options.seeds),
        budgets=[int(one) for one in options.budgets.split(",")],
        processes=options.jobs,
    )
    if unknown := [name for name in plan.worlds if name not in MIXTURES]:
        raise SystemExit(f"there is no mixture {unknown[0]!r}; known are {', '.join(MIXTURES)}")
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    known = known_curves(plan, codes)
    with KEPT.open("a", encoding="utf-8") as file:
        file.write("\n")  # Ends a line that was being written when an earlier run was broken off.

        def keep(curve: Curve) -> None:
            file.write(json.dumps({"code": codes[curve.optimizer], **curve.to_json()}) + "\n")
            file.flush()

        outcome = compare(plan, notice=say, keep=keep, known=known)
    report(standings(outcome.curves), plan)
    report_losses(outcome.curves, plan)
    for failure in outcome.failures:
        print(f"not measured: {failure}")
    if options.set == "reporting" and not options.worlds:
        missing = [str(failure) for failure in outcome.failures]
        save(section(standings(outcome.curves), outcome.curves, plan, missing))


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench mixtures", description=__doc__)
    parser.add_argument(
        "--set", choices=list(SETS), default="tuning", help="frozen worlds to run in"
    )
    parser.add_argument("--worlds", default="", help="names instead of a set, parted by commas")
    parser.add_argument("--budgets", default="700,4000", help="evaluations of a run")
    parser.add_argument("--seeds", default="3", help="how many from 0 up, or FIRST-LAST")
    parser.add_argument("--contestants", default=NAMES)
    parser.add_argument("--jobs", type=int, default=2, help="processes side by side")
    return parser.parse_args(arguments)


def seeds_of(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last) + 1) if last else range(int(first))


def code_of(contestant: Contestant) -> str:
    """A digest of what decides a result: the worlds, and what runs in them."""
    benchmarks = PACKAGE / "benchmarks"
    folders = [benchmarks / "worlds", benchmarks / "peers"]
    files = (one for folder in folders for one in folder.rglob("*"))
    if contestant.environment is None:
        files = PACKAGE.rglob("*.py")
    hashed = hashlib.sha256()
    for path in sorted(one for one in files if one.suffix in (".py", ".txt")):
        hashed.update(path.read_bytes())
    return hashed.hexdigest()[:12]


def known_curves(plan: Plan, codes: dict[str, str]) -> list[Curve]:
    """Results of this plan that the file has already, made by the code as it is now."""
    found: dict[tuple[object, ...], Curve] = {}
    for line in KEPT.read_text(encoding="utf-8").splitlines() if KEPT.exists() else ():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        code = value.pop("code")
        one = Curve.of(value)
        wanted = one.world in plan.worlds and one.seed in plan.seeds and one.budget in plan.budgets
        if wanted and codes.get(one.optimizer) == code:
            found[one.world, one.optimizer, one.seed, one.budget] = one
    return list(found.values())


def report(rows: Sequence[Standing], plan: Plan) -> None:
    """A table a budget, by world, and the medians over all worlds."""
    columns = ("share", "lowest", "highest", "tried", "evals", "reflections", "calls to 90%")
    print(
        "share: true score of the chosen winner over the world's maximum, median of seeds; tried: the "
        "same for the best text that was run on any item; >: half of the seeds or more never got there"
    )
    for budget in plan.budgets:
        print(f"\n{budget:,} evaluations, {len(plan.seeds)} seeds")
        print_row("contestant", columns)
        of_budget = [row for row in rows if row.budget == budget]
        for world in plan.worlds:
            shown = [row for row in of_budget if row.world == world]
            if shown:
                print(f"{world}: {MIXTURES[world].about}; starts at {shown[0].start:.2f}")
            for row in by_contestant(shown, plan):
                print_row(row.optimizer, cells([row]))
        print("medians over the worlds, with the mean share and how often 90% were reached")
        for contestant in plan.contestants:
            mine = [row for row in of_budget if row.optimizer == contestant.name]
            if mine:
                mean = sum(row.share for row in mine) / len(mine)
                reached = sum(row.reached for row in mine) / len(mine)
                print_row(contestant.name, [*cells(mine), f"{mean:.3f}", f"{reached:.0%}"])


def report_losses(curves: Sequence[Curve], plan: Plan) -> None:
    """Runs whose winner is clearly worse than something that they had tried."""
    print(
        f"\nwinners worse by more than {LOSS} true than the best trial, and than the best text tried"
    )
    for contestant in plan.contestants:
        mine = [one for one in curves if one.optimizer == contestant.name]
        trials = [one for one in mine if one.best_trial is not None]
        lost = [one for one in trials if (one.best_trial or 0.0) - one.final > LOSS]
        overlooked = sum(one.best_tried - one.final > LOSS for one in mine)
        named = ", ".join(f"{one.world} seed {one.seed} with {one.budget:,}" for one in lost)
        of_trials = f"{len(lost)} of {len(trials)}" if trials else "unknown"
        print(f"  {contestant.name:20}{of_trials}; {overlooked} of {len(mine)}  {named}")


def section(
    rows: Sequence[Standing], curves: Sequence[Curve], plan: Plan, missing: Sequence[str]
) -> Section:
    """Medians over the worlds by contestant, then each world; runs that went badly by name."""
    lines: list[list[str]] = []
    for budget in plan.budgets:
        of_budget = [row for row in rows if row.budget == budget]
        for one in plan.contestants:
            mine = [row for row in of_budget if row.optimizer == one.name]
            mean = sum(row.share for row in mine) / len(mine)
            reached = sum(row.reached for row in mine) / len(mine)
            share, lowest, _, _, calls, asked, goal = cells(mine)
            told = [share, f"{mean:.3f}", lowest, f"{reached:.0%}", calls, asked, goal]
            lines.append([f"{budget:,}", "all", one.name, *told])
    for budget, world in ((budget, world) for budget in plan.budgets for world in plan.worlds):
        shown = [row for row in rows if (row.budget, row.world) == (budget, world)]
        for row in by_contestant(shown, plan):
            share, lowest, _, _, calls, asked, goal = cells([row])
            told = [share, f"{row.share:.3f}", lowest, f"{row.reached:.0%}", calls, asked, goal]
            lines.append([f"{budget:,}", world, row.optimizer, *told])
    losses = [
        f"{one.world} seed {one.seed} with {one.budget:,} calls ({one.best_trial:.3f} was tried, "
        f"{one.final:.3f} won)"
        for one in curves
        if one.best_trial is not None and one.best_trial - one.final > LOSS
    ]
    runs = sum(one.best_trial is not None for one in curves)
    return Section(
        name="mixtures",
        title=f"Mixtures: {len(plan.worlds)} frozen worlds of another author, {len(plan.seeds)} seeds",
        command=f"python -m bench mixtures --set reporting --seeds {len(plan.seeds)}",
        columns=[
            *("calls", "world", "contestant", "share of the maximum", "mean", "lowest"),
            *("90% reached", "calls made", "reflections", "calls to 90%"),
        ],
        rows=lines,
        notes=[
            "Shares are true scores of the chosen winner over the world's maximum, medians over seeds "
            "and, for all, over worlds; lowest is a single run's. A > says that half or more never got "
            "there.",
            f"{len(losses)} of {runs} winners of ours are worse by over {LOSS} than the best trial "
            f"of their own run{': ' if losses else ''}{'; '.join(losses)}.",
            *(f"Not measured: {one}." for one in missing),
        ],
    )


def by_contestant(rows: Iterable[Standing], plan: Plan) -> list[Standing]:
    order = [one.name for one in plan.contestants]
    return sorted(rows, key=lambda row: order.index(row.optimizer))


def cells(rows: Sequence[Standing]) -> list[str]:
    never = 2 * sum(row.never for row in rows) >= len(rows)
    return [
        f"{median(row.share for row in rows):.3f}",
        f"{min(row.lowest for row in rows):.3f}",
        f"{max(row.highest for row in rows):.3f}",
        f"{median(row.best_tried for row in rows):.3f}",
        f"{median(row.calls for row in rows):,.0f}",
        f"{median(row.reflections for row in rows):,.0f}",
        f"{'>' if never else ''}{median(row.calls_to_goal for row in rows):,.0f}",
    ]


def print_row(contestant: str, values: Sequence[str]) -> None:
    print(f"  {contestant:20}" + "".join(f"{value:>14}" for value in values))


def say(line: str) -> None:
    print(f"  {line}", file=sys.stderr)
