"""What is known of each configuration on the items of the gate, and what to run to know more.

The gate is what the baseline passes in every repeat. A failure there is run again: only an item that
fails twice, and in at least half of its runs, has regressed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from burnish.domain import TrialHistory
from burnish.optimizers.shared.facts import RunFacts
from burnish.optimizers.shared.seeded_random import generator

_FIRST_BATCH = 4
_SETTLING_RUNS = 3
_REPEATED = 2
Runs = Mapping[str, tuple[bool, ...]]


@dataclass(frozen=True, slots=True)
class Ask:
    """Items to run under a configuration, each so many times in all."""

    digest: str
    item_ids: tuple[str, ...]
    repeats: int


class Unknown(Exception):  # noqa: N818 - not an error: the search waits for results
    """What has to be run before the search can go on."""

    def __init__(self, asks: Sequence[Ask]) -> None:
        super().__init__(f"{len(asks)} configurations")
        self.asks = tuple(asks)


def regressed(runs: Sequence[bool]) -> bool:
    """Whether failures were confirmed."""
    failures = runs.count(False)
    return failures >= _REPEATED and 2 * failures >= len(runs)


def missing_runs(runs: Sequence[bool], wanted: int) -> int:
    """How many runs in all it takes to know more of an item; 0 where enough is known."""
    if regressed(runs):
        return 0
    if len(runs) < wanted:
        return wanted
    failures = runs.count(False)
    if not failures or (len(runs) >= _SETTLING_RUNS and 2 * failures < len(runs)):
        return 0
    return len(runs) + 1


class Memo:
    """Item results that were read before. Leaving it out changes nothing but the time."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[int, Runs]] = {}

    def read(self, history: TrialHistory, candidate_id: str, experiments: int) -> Runs:
        """The runs of a candidate by item, in order of repeats."""
        known = self._kept.get(candidate_id)
        if known is None or known[0] != experiments:
            found: dict[str, list[bool]] = {}
            results = history.item_results(candidate_id)
            for one in sorted(results, key=lambda one: (one.item_id, one.repeat)):
                found.setdefault(one.item_id, []).append(one.passed)
            known = experiments, {item: tuple(runs) for item, runs in found.items()}
            self._kept[candidate_id] = known
        return known[1]


@dataclass(frozen=True, kw_only=True)
class Verdicts:
    """The runs of every configuration by hash, and the gate in its drawn order."""

    gate: tuple[str, ...]
    eval_runs: int
    runs: Mapping[str, Runs] = field(default_factory=dict)
    # Items that some configuration failed for sure, those that failed most of them first.
    witnesses: tuple[str, ...] = ()
    _regressions: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _passed: dict[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, history: TrialHistory, facts: RunFacts, memo: Memo) -> Verdicts:
        """All that was observed."""
        experiments = Counter(one.candidate_id for one in (*history.tried, *history.mini_batches))
        read = {one: memo.read(history, one, number) for one, number in experiments.items()}
        base = read.pop(facts.baseline_candidate_id, {})
        passed = sorted(item for item, runs in base.items() if runs and all(runs))
        generator(facts.seed, "compress", "gate").shuffle(passed)
        runs = {history.candidate(one).configuration.hash: found for one, found in read.items()}
        failed = Counter(
            item for found in runs.values() for item in passed if regressed(found.get(item, ()))
        )
        return cls(
            gate=tuple(passed),
            eval_runs=max((len(one) for one in base.values()), default=1),
            runs=runs,
            witnesses=tuple(sorted(failed, key=lambda item: (-failed[item], passed.index(item)))),
        )

    def of_item(self, digest: str, item: str) -> tuple[bool, ...]:
        """The runs of one item."""
        return self.runs.get(digest, {}).get(item, ())

    def regressions(self, digest: str) -> tuple[str, ...]:
        """The items of the gate that a configuration fails for sure."""
        if digest not in self._regressions:
            found = self.runs.get(digest, {})
            self._regressions[digest] = tuple(
                item for item in self.gate if regressed(found.get(item, ()))
            )
        return self._regressions[digest]

    def passed(self, digest: str) -> frozenset[str]:
        """The items that never failed under a configuration."""
        if digest not in self._passed:
            found = self.runs.get(digest, {})
            self._passed[digest] = frozenset(
                item for item, runs in found.items() if runs and all(runs)
            )
        return self._passed[digest]

    def next_ask(
        self, digest: str, items: Sequence[str], wanted: int, *, alone: bool = False
    ) -> Ask | None:
        """What to run next to know whether all items pass; None where that is known.

        Doubtful items come first, one at a time; then new ones, in batches that grow. With `alone`
        an item that regresses already does not settle the others.
        """
        known = {item: self.of_item(digest, item) for item in items}
        if not alone and any(regressed(runs) for runs in known.values()):
            return None
        for item, runs in known.items():
            if not all(runs) and (more := missing_runs(runs, 1)):
                return Ask(digest, (item,), more)
        fresh = [item for item in items if len(known[item]) < wanted]
        if not fresh:
            return None
        size = max(_FIRST_BATCH, len(items) - len(fresh))
        return Ask(digest, tuple(fresh[:size]), wanted)
