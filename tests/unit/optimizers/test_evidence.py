"""What a run knows by item: no sample flatters a child, and ties, lines and repeats are minded."""

from __future__ import annotations

import random
import statistics
from dataclasses import replace

import pytest
from driver import Run
from known import evidence_of, known, result
from worlds import REVIEWS

from burnish.domain import AgentOutput, ExperimentStatus, ExperimentType
from burnish.optimizers import RandomSearch
from burnish.optimizers.shared.evidence import Evidence, Memo, is_weak

VALIDATION = {f"v{n}": float(n < 5) for n in range(10)}


class TestStanding:
    def test_a_child_tried_on_failures_alone_is_not_flattered(self):
        """Answers at random: whoever runs what another failed looks better by chance alone."""
        estimates, plain = [], []
        for seed in range(60):
            chance = random.Random(f"fooled:{seed}")
            items = [f"t{n}" for n in range(24)]
            parent = {item: float(chance.random() < 0.7) for item in items}
            failed = [item for item in items if not parent[item]]
            passed = [item for item in items if parent[item]]
            sample = [*failed, *chance.sample(passed, min(8, len(passed)))]
            child = {item: float(chance.random() < 0.7) for item in sample}
            evidence = evidence_of(
                known(0, {**VALIDATION, **parent}, trial=0.5), known(1, child, parents=(0,))
            )
            estimates.append(evidence.estimated_gain("c-1"))
            plain.append(statistics.mean(child[one] - parent[one] for one in sample))

        assert statistics.mean(plain) > 0.1
        assert abs(statistics.mean(estimates)) < 0.07

    def test_what_mends_and_breaks_alike_is_no_better(self):
        parent = {f"t{n}": float(n >= 6) for n in range(12)}
        child = {item: 1 - score for item, score in parent.items()}
        evidence = evidence_of(
            known(0, {**VALIDATION, **parent}, trial=0.5), known(1, child, parents=(0,))
        )

        assert abs(evidence.estimated_gain("c-1")) < 0.15

    def test_a_mended_failure_counts_for_all_failures_and_less_than_fully(self):
        parent = {f"t{n}": float(n >= 6) for n in range(12)}
        evidence = evidence_of(
            known(0, {**VALIDATION, **parent}, trial=0.5),
            known(1, {"t0": 1}, parents=(0,)),
            known(2, {f"t{n}": 1 for n in range(6)}, parents=(0,)),
        )

        assert 0 < evidence.estimated_gain("c-1") < evidence.estimated_gain("c-2") < 0.5

    def test_a_trial_outweighs_every_estimate(self):
        evidence = evidence_of(
            known(0, {**VALIDATION, "t0": 0}, trial=0.5),
            known(1, {"t0": 1}, parents=(0,), trial=0.4),
            known(2, {"t0": 1}, parents=(1,)),
        )

        assert evidence.estimated_gain("c-0") == 0
        assert evidence.estimated_gain("c-1") == pytest.approx(-0.1)
        assert evidence.estimated_gain("c-2") == pytest.approx(-0.1)

    def test_children_are_judged_on_training_items_where_the_parent_ran_any(self):
        looked = evidence_of(
            known(0, {**VALIDATION, "t0": 0, "t1": 1}, trial=0.5),
            known(1, {"v9": 1}, parents=(0,)),
        )
        unlooked = evidence_of(known(0, VALIDATION, trial=0.5), known(1, {"v9": 1}, parents=(0,)))

        assert looked.estimated_gain("c-1") == 0
        assert unlooked.estimated_gain("c-1") > 0

    def test_an_orphan_stands_where_the_baseline_does(self):
        evidence = evidence_of(known(0, VALIDATION, trial=0.5), known(1, {"v9": 1}, parents=(7,)))

        assert evidence.estimated_gain("c-1") == 0


class TestVerified:
    parent = known(0, {**VALIDATION, **{f"t{n}": float(n >= 10) for n in range(20)}}, trial=0.5)

    def verified(self, scores, **more) -> bool:
        child = known(1, scores, parents=(0,), **more)
        return evidence_of(self.parent, child).verified(child, self.parent)

    def test_most_failures_and_some_passes_are_enough(self):
        ran = [*range(6), *range(10, 16)]

        assert self.verified({f"t{n}": 1 for n in ran})

    def test_failures_alone_are_not(self):
        assert not self.verified({f"t{n}": 1 for n in range(10)})

    def test_passes_alone_are_not(self):
        assert not self.verified({f"t{n}": 1 for n in range(10, 20)})

    def test_a_trial_is_enough(self):
        assert self.verified({"v1": 1}, trial=0.6)

    def test_nothing_is_not(self):
        assert not self.verified({})

    def test_where_all_failed_no_pass_is_needed(self):
        parent = known(0, {**VALIDATION, "t0": 0, "t1": 0}, trial=0.5)
        child = known(1, {"t0": 0, "t1": 1}, parents=(0,))

        assert evidence_of(parent, child).verified(child, parent)


class TestLeads:
    def test_ties_lead_all(self):
        evidence = evidence_of(
            known(0, {"v1": 0, "v2": 1, "v3": 0}, trial=0.3),
            known(1, {"v1": 1, "v2": 0, "v3": 0}, parents=(0,), trial=0.3),
            known(2, {"v1": 1, "v2": 1, "v3": 0}, parents=(0,), trial=0.6),
        )

        assert evidence.leads(["v1", "v2", "v3"]) == {"c-0": 2, "c-1": 2, "c-2": 3}

    def test_only_whole_trials_lead(self):
        evidence = evidence_of(
            known(0, {"v1": 0}, trial=0.3), known(1, {"v1": 1}, parents=(0,)), known(2, {"t1": 1})
        )

        assert evidence.leads(["v1"]) == {"c-0": 1}

    def test_scores_below_zero_have_leaders_too(self):
        evidence = evidence_of(
            known(0, {"v1": -3.0}, trial=-3.0), known(1, {"v1": -2.0}, parents=(0,), trial=-2.0)
        )

        assert evidence.leads(["v1"]) == {"c-0": 0, "c-1": 1}


class TestLineage:
    evidence = evidence_of(
        known(0, {"v1": 0, "v2": 0}, trial=0.0),
        known(1, {"v1": 1}, parents=(0,)),
        known(2, {"t1": 1}, parents=(1, 0)),
        known(3, {"t1": 0}, parents=(0,)),
    )

    def test_it_goes_by_first_parents_to_the_baseline(self):
        assert [one.candidate.number for one in self.evidence.lineage("c-2")] == [2, 1, 0]

    def test_the_last_result_is_the_nearest_ancestors(self):
        assert self.evidence.last_result("c-2", "t1").score == 1
        assert self.evidence.last_result("c-2", "v1").score == 1
        assert self.evidence.last_result("c-2", "v2").score == 0
        assert self.evidence.last_result("c-2", "t9") is None

    def test_children_are_those_of_a_first_parent(self):
        assert [one.candidate.number for one in self.evidence.children("c-0")] == [1, 3]

    def test_the_gain_is_of_what_both_ran(self):
        child, parent = self.evidence.known["c-1"], self.evidence.known["c-0"]

        assert self.evidence.gain(child, parent) == 1
        assert self.evidence.gain(self.evidence.known["c-3"], parent) == 0

    def test_how_many_failed_an_item(self):
        assert self.evidence.times_failed("v1") == 1
        assert self.evidence.times_failed("t1") == 1


@pytest.mark.parametrize(
    ("score", "passed", "weak"),
    [
        (1.0, True, False),
        (0.5, True, True),
        (1.0, False, True),
        (80.0, True, False),
        (-1, True, True),
    ],
)
def test_weak_is_what_failed_or_has_less_than_full_marks(score, passed, weak):
    assert is_weak(result("t1", score, passed=passed)) is weak


class History:
    """One candidate, with its experiments and what they showed."""

    def __init__(self, results, **trials: ExperimentStatus) -> None:
        run = Run(optimizer=RandomSearch(), baseline=REVIEWS, world=lambda *_: (1.0, "x"))
        run.start()
        [made] = run.trials
        self.trials = [replace(made, objective_score=0.5)]
        self.mini_batches = [
            replace(made, candidate_id="c-1", status=status, type=ExperimentType.MINI_BATCH)
            for status in trials.values()
        ]
        self.results = {"c-0": [result("v1", 0.5)], "c-1": results}
        self.reads: list[str] = []

    def candidate(self, candidate_id):
        return known(int(candidate_id[2:]), {}).candidate

    async def load_item_results(self, candidate_id):
        self.reads.append(candidate_id)
        return self.results[candidate_id]

    async def gather(self, memo: Memo | None = None) -> Evidence:
        return await Evidence.gather(self, "c-0", frozenset({"t1"}), memo or Memo())


class TestGathering:
    async def test_repeats_are_averaged_and_one_that_failed_makes_the_item_weak(self):
        repeats = [
            replace(result("t1", 1.0), repeat=0),
            replace(result("t1", 0.0, output=AgentOutput(text="no")), repeat=1),
        ]
        evidence = await History(repeats, one=ExperimentStatus.COMPLETED).gather()

        mine = evidence.known["c-1"]
        assert mine.results["t1"].score == 0.5
        assert mine.results["t1"].output.text == "no"
        assert mine.weak("t1")

    async def test_on_another_scale_one_failed_repeat_makes_the_item_weak_too(self):
        repeats = [
            replace(result("t1", 90.0, passed=True), repeat=0),
            replace(result("t1", 40.0, passed=False), repeat=1),
        ]
        evidence = await History(repeats, one=ExperimentStatus.COMPLETED).gather()

        assert evidence.known["c-1"].results["t1"].score == 65
        assert evidence.known["c-1"].weak("t1")

    async def test_what_failed_or_was_cancelled_does_not_count(self):
        history = History([result("t1", 1.0)], one=ExperimentStatus.FAILED)

        assert (await history.gather()).known.keys() == {"c-0"}

    async def test_each_experiment_is_read_once(self):
        history, memo = History([result("t1", 1.0)], one=ExperimentStatus.COMPLETED), Memo()
        await history.gather(memo)
        await history.gather(memo)
        assert sorted(history.reads) == ["c-0", "c-1"]

        history.mini_batches.append(history.mini_batches[0])
        await history.gather(memo)

        assert sorted(history.reads) == ["c-0", "c-1", "c-1"]

    async def test_a_mini_batch_has_no_trial_score(self):
        evidence = await History([result("t1", 1.0)], one=ExperimentStatus.COMPLETED).gather()

        assert [one.candidate.number for one in evidence.trialed] == [0]
        assert evidence.baseline.trial_score == 0.5
