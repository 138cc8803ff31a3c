"""`python -m bench faults`: many faults, and a table of what was lost, doubled, blamed or hung."""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.faults.attempts import OUTCOMES, Disturbed
from bench.faults.kept import table, try_all
from bench.faults.reference import KINDS, Fault, Reference
from bench.processes import ROOT
from bench.results import Section, save

COUNT = 2000
# So often as any other: every place at which a search writes is to be hit.
_OFTEN = {("optimization", "kill -9"): 6, ("optimization", "SIGSTOP"): 6}
ALL = tuple((work, kind) for work, kinds in KINDS.items() for kind in kinds)


def main(arguments: Sequence[str]) -> None:
    """Try what is not yet in the file, and print the table of all; exit 1 unless it is all zeros."""
    options = _parse(arguments)
    kinds = options.kinds.split(",") if options.kinds else None
    wanted = [one for one in ALL if kinds is None or one[1] in kinds]
    planned = list(plan(options.count, wanted, options.seed))
    with tempfile.TemporaryDirectory() as folder:
        reference = Reference(Path(folder))
        reference.prepare(planned)
        done = try_all(
            {fault.key: fault for fault in planned},
            _try,
            reference=reference,
            path=ROOT / "build" / "bench" / "faults.jsonl",
            jobs=options.jobs,
            fresh=options.fresh,
        )
        names = reference.places()
    found = [Disturbed(**one) for one in done.values()]
    section = report(planned, found, names)
    print(table(section.columns, section.rows))
    print("\n".join(section.notes))
    if kinds is None and options.count >= COUNT:
        save(section)
    if any(getattr(one, name) for one in found for name in OUTCOMES):
        raise SystemExit(1)


def plan(count: int, kinds: Sequence[tuple[str, str]], seed: int) -> Iterator[Fault]:
    """So many faults: the kinds in turn, each at places spread evenly over the whole run."""
    turns = [one for one in kinds for _ in range(_OFTEN.get(one, 1))]
    numbers = [turns[number % len(turns)] for number in range(count)]
    shares, passed = Counter(numbers), Counter[tuple[str, str]]()
    for work, kind in numbers:
        number, share = passed[work, kind], shares[work, kind]
        passed[work, kind] += 1
        draw = random.Random(f"{seed}:{work}:{kind}").random()
        key = f"{seed}:{work}:{kind}:{number} of {share}"
        place = (number + draw) / share
        yield Fault(work=work, kind=kind, place=place, number=number, key=key)


def report(planned: Sequence[Fault], found: Sequence[Disturbed], names: set[str]) -> Section:
    """A row for each kind of fault, and the sum."""
    pairs = list(zip(planned, found, strict=True))
    kinds = list(dict.fromkeys(fault.kind for fault in planned))
    rows = [_row(kind, [pair for pair in pairs if pair[0].kind == kind]) for kind in kinds]
    hit = {
        kind: {one.where for fault, one in pairs if fault.kind == kind} & names for kind in kinds
    }
    notes = [
        f"{kind}: at {len(hit[kind])} of the {len(names)} places before and after a write."
        for kind in ("kill -9", "SIGSTOP")
        if kind in hit
    ]
    late = sum(not one.where for one in found)
    notes.append(f"{late} came too late: what they were to hit had ended.")
    notes += [
        f"{fault.key} at {fault.place:.3f}, {one.where}: {one.note}"
        for fault, one in pairs
        if any(getattr(one, key) for key in OUTCOMES)
    ]
    return Section(
        name="faults",
        title=f"Faults: {len(planned):,} of them, and what they changed",
        command="python -m bench faults",
        columns=["fault", *KINDS, "resumed", "calls again", *OUTCOMES],
        rows=[*rows, _row("all", pairs)],
        notes=[
            "Each hits a small run, which is resumed until it has ended and compared with one that "
            "nobody disturbed. `lost` differs from it, `doubled` has something stored twice, `blamed` "
            "counts what failed for reasons outside, `hung` did not end. Calls again were under way, "
            "or their answers not yet written.",
            *notes,
        ],
    )


def _row(name: str, pairs: Sequence[tuple[Fault, Disturbed]]) -> list[Any]:
    works = Counter(fault.work for fault, _ in pairs)
    found = [one for _, one in pairs]
    return [
        name,
        *(works[work] for work in KINDS),
        sum(one.attempts > 1 for one in found),
        sum(one.again for one in found),
        *(sum(bool(getattr(one, key)) for one in found) for key in OUTCOMES),
    ]


def _try(reference: Reference, fault: Fault) -> dict[str, Any]:
    return reference.try_fault(fault).to_json()


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    known = ",".join(dict.fromkeys(kind for _, kind in ALL))
    parser = argparse.ArgumentParser(prog="python -m bench faults", description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT, help="how many faults")
    parser.add_argument("--seed", type=int, default=0, help="where they hit")
    parser.add_argument("--kinds", help=f"some of {known}")
    parser.add_argument(
        "--jobs", type=int, default=4, help="how many side by side; they often wait"
    )
    parser.add_argument("--fresh", action="store_true", help="forget what was tried before")
    return parser.parse_args(arguments)
