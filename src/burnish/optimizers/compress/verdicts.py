"""What is known of each configuration on the items of the gate, and what to run to know more.

The gate is what the baseline passes in every repeat. A failure there is run again: an item that fails
twice, and in at least half of its runs, has regressed. Rarer failures are counted over all items and
runs together: when they are more than chance, beside as many further runs of the baseline, that is a
regression too. What failed outside the agent is no result, and is run again.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from burnish.domain import TrialHistory
from burnish.optimizers.shared.facts import RunFacts
from burnish.optimizers.shared.seeded_random import generator

_FIRST_BATCH = 4
_SETTLING_RUNS = 3
_REPEATED = 2
# Failures that are as likely as this for a prompt that is as good as the baseline are chance.
_CHANCE = 0.1
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


def chance_of(failures: int, runs: int, base_failures: int, base_runs: int) -> float:
    """How likely so many of all failures fall on one side when both fail equally often."""
    total, every = failures + base_failures, runs + base_runs
    tail = sum(
        math.comb(runs, one) * math.comb(base_runs, total - one)
        for one in range(failures, min(total, runs) + 1)
    )
    return tail / math.comb(every, total)


@dataclass(frozen=True, slots=True)
class Observed:
    """One candidate's runs by item, in order of repeats, and how many failed outside the agent."""

    runs: Runs
    lost: Mapping[str, int]


class Memo:
    """Item results that were read before. Leaving it out changes nothing but the time."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[int, Observed]] = {}

    def read(self, history: TrialHistory, candidate_id: str, experiments: int) -> Observed:
        """What is known of a candidate."""
        known = self._kept.get(candidate_id)
        if known is None or known[0] != experiments:
            found: dict[str, list[bool]] = {}
            lost: Counter[str] = Counter()
            results = history.item_results(candidate_id)
            for one in sorted(results, key=lambda one: (one.item_id, one.repeat)):
                if one.error is not None and one.error.kind.outside:
                    lost[one.item_id] += 1
                else:
                    found.setdefault(one.item_id, []).append(one.passed)
            runs = {item: tuple(runs) for item, runs in found.items()}
            known = experiments, Observed(runs, lost)
            self._kept[candidate_id] = known
        return known[1]


@dataclass(frozen=True, kw_only=True)
class Verdicts:
    """The runs of every configuration by hash, and the gate in its drawn order."""

    gate: tuple[str, ...]
    eval_runs: int
    runs: Mapping[str, Runs] = field(default_factory=dict)
    # The baseline's hash; its runs beyond `eval_runs` are those that the gate was not chosen by.
    baseline: str = ""
    lost: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    # Items that some configuration failed for sure, those that failed most of them first.
    witnesses: tuple[str, ...] = ()
    _regressions: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _passed: dict[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, history: TrialHistory, facts: RunFacts, memo: Memo) -> Verdicts:
        """All that was observed."""
        experiments = Counter(one.candidate_id for one in (*history.tried, *history.mini_batches))
        read = {one: memo.read(history, one, number) for one, number in experiments.items()}
        baseline = read.get(facts.baseline_candidate_id, Observed({}, {}))
        base, asked = baseline.runs, {*baseline.runs, *baseline.lost}
        first = next(
            (one for one in history.trials if one.candidate_id == facts.baseline_candidate_id), None
        )
        repeats = 1 if first is None else max(1, first.summary.total_items // max(1, len(asked)))
        drawn = sorted(base)
        generator(facts.seed, "compress", "gate").shuffle(drawn)
        passed = [item for item in drawn if all(base[item][:repeats])]
        hashes = {one: history.candidate(one).configuration.hash for one in read}
        runs = {hashes[one]: found.runs for one, found in read.items()}
        failed = Counter(
            item for found in runs.values() for item in passed if regressed(found.get(item, ()))
        )
        return cls(
            gate=tuple(passed),
            eval_runs=repeats,
            runs=runs,
            baseline=facts.baseline.hash,
            lost={hashes[one]: found.lost for one, found in read.items()},
            witnesses=tuple(sorted(failed, key=lambda item: (-failed[item], passed.index(item)))),
        )

    def of_item(self, digest: str, item: str) -> tuple[bool, ...]:
        """The runs of one item."""
        return self.runs.get(digest, {}).get(item, ())

    def regressions(self, digest: str) -> tuple[str, ...]:
        """The items of the gate that a configuration fails for sure, and the baseline never."""
        if digest not in self._regressions:
            self._regressions[digest] = tuple(
                item
                for item in self.gate
                if regressed(self.of_item(digest, item)) and all(self.of_item(self.baseline, item))
            )
        return self._regressions[digest]

    def failures(self, digest: str, items: Sequence[str], *, further: bool = False) -> int:
        """How often items failed in their first runs, or in as many runs after those."""
        start = self.eval_runs if further else 0
        return sum(
            self.of_item(digest, item)[start : start + self.eval_runs].count(False)
            for item in items
        )

    def more_failures(self, digest: str) -> tuple[str, ...]:
        """The items behind a pass rate that fell by more than chance; none where it did not.

        The gate was chosen by the baseline's first runs, which therefore all passed: only further
        ones can be compared, and they are asked for where failures could be more than chance.
        """
        runs = len(self.gate) * self.eval_runs
        failures = self.failures(digest, self.gate)
        if chance_of(failures, runs, 0, runs) > _CHANCE:
            return ()
        ask = self.ask(self.baseline, self.gate, 2 * self.eval_runs)
        if ask is not None:
            raise Unknown([ask])
        of_baseline = self.failures(self.baseline, self.gate, further=True)
        if chance_of(failures, runs, of_baseline, runs) > _CHANCE:
            return ()
        return tuple(item for item in self.gate if self.failures(digest, [item]))

    def is_sound(self, digest: str) -> bool:
        """Whether nothing that is known speaks against a configuration."""
        try:
            return not (self.regressions(digest) or self.more_failures(digest))
        except Unknown:
            return False

    def ask(self, digest: str, items: Sequence[str], wanted: int) -> Ask | None:
        """Run the items so many times; None where they have been.

        What was lost to an outage is asked for with a run more, as another experiment.
        """
        fresh = tuple(item for item in items if len(self.of_item(digest, item)) < wanted)
        if not fresh:
            return None
        return Ask(digest, fresh, wanted + max(self.lost_runs(digest, item) for item in fresh))

    def lost_runs(self, digest: str, item: str) -> int:
        """How many runs of an item failed outside the agent."""
        return self.lost.get(digest, {}).get(item, 0)

    def lacks_answers(self, ask: Ask) -> bool:
        """Whether something is asked for that was asked before and not answered."""
        return any(self.lost_runs(ask.digest, item) for item in ask.item_ids)

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
                return self.ask(digest, (item,), more)
        fresh = [item for item in items if len(known[item]) < wanted]
        size = max(_FIRST_BATCH, len(items) - len(fresh))
        return self.ask(digest, fresh[:size], wanted)
