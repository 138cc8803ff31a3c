"""Trials become differences: pruned ones on their own items, collapsed ones with a penalty."""

from __future__ import annotations

from dataclasses import replace

import pytest
from driver import FakeHistory, Run
from worlds import LABELS, REVIEWS

from burnish.domain import ExperimentStatus
from burnish.optimizers import Edits
from burnish.optimizers.shared.facts import RunFacts
from burnish.optimizers.shared.trial_reading import baseline_luck, is_collapsed, read_trials

ITEMS = tuple(f"v{number:02}" for number in range(40))


def world(candidate, item):
    """The baseline gets the second half right, everything else the first half with one answer."""
    number = int(item[1:])
    if candidate.number == 0:
        return float(number >= 20), LABELS[number % 2]
    return float(number < 20), LABELS[0]


@pytest.fixture
def run():
    made = Run(
        optimizer=Edits(),
        baseline=REVIEWS,
        labels=LABELS,
        world=world,
        splits={"validation": ITEMS},
    )
    return made.go(max_trials=4)


def read(run: Run):
    facts = RunFacts.within(run.state)
    return read_trials(FakeHistory(run), facts, lambda candidate_id: (candidate_id,))


def test_a_complete_trial_is_its_score_against_the_baselines(run):
    first = read(run)[0]

    assert first.difference == 0.0
    assert first.complete
    assert first.variance == pytest.approx(0.5 * 0.25 / 40)


def test_a_pruned_trial_is_compared_on_the_items_it_ran(run):
    pruned = run.trials[1]
    run.results[pruned.candidate_id] = [
        one for one in run.results[pruned.candidate_id] if one.item_id < "v10"
    ]
    run.trials[1] = replace(pruned, status=ExperimentStatus.PRUNED, objective_score=1.0)

    first = read(run)[0]

    assert first.difference == 1.0
    assert not first.complete


def test_one_answer_to_everything_is_a_collapse_and_costs(run):
    first = read(run)[0]

    assert first.collapsed
    assert first.observation(penalty=0.05).difference == pytest.approx(-0.05)
    assert not is_collapsed(run.results["c-0"])
    assert not is_collapsed(run.results["c-1"][:5])


def test_failed_trials_and_strangers_are_left_out(run):
    run.trials[1] = replace(run.trials[1], status=ExperimentStatus.FAILED, objective_score=None)
    facts = RunFacts.within(run.state)

    found = read_trials(FakeHistory(run), facts, lambda one: None if one == "c-2" else (one,))

    assert [one.candidate_id for one in found] == ["c-3", "c-4"]


def test_the_baselines_luck_follows_from_its_items(run):
    facts = RunFacts.within(run.state)

    assert baseline_luck(FakeHistory(run), facts) == pytest.approx((0.125 / 40) ** 0.5)


def test_a_long_history_is_read_in_part(run):
    """The latest and the best; items of the very latest only."""
    reads = []

    class Counting(FakeHistory):
        def item_results(self, candidate_id):
            reads.append(candidate_id)
            return super().item_results(candidate_id)

    for number in range(5, 400):
        template = run.trials[1]
        run.candidates[f"c-{number}"] = replace(
            run.candidates["c-1"], id=f"c-{number}", number=number
        )
        run.results[f"c-{number}"] = run.results["c-1"]
        score = 0.9 if number == 7 else 0.5
        run.trials.append(replace(template, candidate_id=f"c-{number}", objective_score=score))

    found = read_trials(Counting(run), RunFacts.within(run.state), lambda one: (one,))

    assert len(found) <= 64
    assert "c-7" in {one.candidate_id for one in found}
    assert found[-1].candidate_id == "c-399"
    assert len(reads) <= 25
