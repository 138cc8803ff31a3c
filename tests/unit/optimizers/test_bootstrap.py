"""The `bootstrap` optimizer shows what the agent itself said where that passed."""

from __future__ import annotations

import statistics

import pytest
from asking_driver import AskingHistory, AskingRun, rows

import burnish
from burnish.domain import Configuration, SearchSpace, StopReason, UsageError
from burnish.optimizers import Bootstrap, build_optimizer

BASELINE = Configuration.of({"sections": {"system": "Answer.", "user": "{{question}}"}})
ITEMS = {
    **rows("train", 40, question=lambda n: f"q{n}", expected=lambda n: f"right {n}"),
    **rows("validation", 40, question=lambda n: f"w{n}", expected=lambda n: f"right {n}"),
}
SPLITS = {
    name: tuple(one.id for one in ITEMS.values() if one.split == name)
    for name in ("train", "validation")
}


def good_count(candidate) -> int:
    """Examples whose question ends in 0, 1 or 2 teach; others distract."""
    return sum(int(one["input"]["question"][-1]) < 3 for one in candidate.configuration.examples)


def world(candidate, item):
    total = len(candidate.configuration.examples)
    level = 0.4 + 0.12 * good_count(candidate) - 0.02 * (total - good_count(candidate))
    number = int(item[1:])
    passes = (number * 7) % 40 < 40 * level
    return float(passes), f"my words on {item}" if passes else "no idea"


def new_run(**more) -> AskingRun:
    settings = more.pop("settings", {})
    given = {"baseline": BASELINE, "world": world, "items": ITEMS, "splits": SPLITS, **more}
    return AskingRun(optimizer=lambda: Bootstrap(**settings), **given)


def shown(run) -> list[dict]:
    return [example for one in run.candidates.values() for example in one.configuration.examples]


def test_it_shows_the_agents_own_passing_outputs_of_training_items():
    run = new_run().go(max_trials=16)

    assert len(run.trials) > 8
    assert not run.refused
    for example in shown(run):
        number = int(example["input"]["question"][1:])
        assert set(example) == {"input", "output"}
        assert example == {
            "input": {"question": f"q{number}"},
            "output": f"my words on t{number:02}",
        }


def test_the_first_step_is_a_mini_batch_of_the_baseline():
    run = new_run(settings={"batch": 10})
    run.start()

    (first,) = run.proposals(4)

    assert len(first.item_ids) == 10
    assert all(item.startswith("t") for item in first.item_ids)
    assert first.configuration.hash == BASELINE.hash


def test_rows_differ_in_length_and_order_and_stay_within_the_limit():
    run = new_run(settings={"max_examples": 3}).go(max_trials=20)

    lengths = {len(one.configuration.examples) for one in list(run.candidates.values())[1:]}
    assert lengths == {1, 2, 3}


def test_later_rounds_run_the_best_on_what_nobody_passed():
    run = new_run(settings={"rounds": 3, "patience": 100}).go(max_trials=40)

    batches = [one.candidate_id for one in run.batches]
    assert batches[0] == "c-0"
    assert 1 < len(batches) <= 3
    assert all(len(run.candidates[one].configuration.examples) > 0 for one in batches[1:])
    first = {one.item_id for one in run.results["c-0"] if one.passed and one.item_id[0] == "t"}
    later = {one.item_id for one in run.results[batches[1]] if one.item_id[0] == "t"}
    assert not first & later


def test_it_gets_better_at_choosing():
    gains = []
    for seed in range(2):
        run = new_run(seed=seed).go(max_trials=32)
        gains.append(run.best.objective_score - run.trials[0].objective_score)

    assert statistics.mean(gains) > 0.2


def test_equal_seeds_give_equal_runs_with_nothing_kept_in_the_process():
    def hashes(seed):
        run = new_run(seed=seed).go(max_trials=12)
        return [one.configuration.hash for one in run.candidates.values()]

    assert hashes(1) == hashes(1)
    assert hashes(1) != hashes(2)


def test_labels_are_balanced():
    labels = ("yes", "no")

    def labelled(candidate, item):
        return float(int(item[1:]) % 4 < 3), labels[int(item[1:]) % 2].upper()

    run = new_run(world=labelled, labels=labels).go(max_trials=6)

    assert {one["output"] for one in shown(run)} == {"yes", "no"}


class TestEnding:
    def test_without_training_items_it_says_so(self):
        run = new_run(splits={"validation": SPLITS["validation"]}).go()

        assert run.decision.reason is StopReason.ALGORITHM_SPECIFIC
        assert "train split" in run.decision.message

    def test_without_room_for_examples_it_says_so(self):
        run = new_run(space=SearchSpace(max_examples=0)).go()

        assert "max_examples" in run.decision.message

    def test_an_agent_that_passes_nothing_gives_no_examples(self):
        run = new_run(world=lambda candidate, item: (0.0, "x"), settings={"batch": 10}).go()

        # Each round tries other items: 3 rounds of 10.
        assert run.decision.message == "the agent passed none of the 30 training items that it ran"

    def test_one_example_is_soon_tried_out(self):
        def one(candidate, item):
            return float(item in ("t05", "v01")), "x"

        run = new_run(world=one, settings={"batch": 40, "patience": 50}).go(max_trials=50)

        assert run.decision.reason is StopReason.CONVERGENCE
        assert len(run.trials) == 2

    def test_a_small_budget_gives_a_small_batch(self):
        run = new_run(evaluations_left=45)
        run.start()

        (first,) = run.optimizer.propose(run.state, AskingHistory(run), 4)

        assert len(first.item_ids) == 5

    def test_settings_are_checked(self):
        for setting in ("max_examples", "batch", "rounds", "patience"):
            with pytest.raises(UsageError, match=setting):
                build_optimizer("bootstrap", {setting: 0})


def test_a_whole_optimization(tmp_path):
    def answer(configuration, item):
        examples = configuration["examples"]
        known = item["n"] % 10 < 3 + 2 * len(examples)
        return f"It is {item['n'] * 2}." if known else "Don't know."

    def score(output, item):
        return float(str(item["n"] * 2) in output.text)

    result = burnish.optimize(
        agent=burnish.Agent(
            name="doubler",
            configuration={"sections": {"system": "Double it.", "user": "{{n}}"}},
            run=answer,
            version="1",
        ),
        suite=burnish.Suite(
            dataset=[{"n": n} for n in range(60)],
            scorers=[score],
            split={"train": 0.3, "validation": 0.4, "test": 0.3},
        ),
        optimizer="bootstrap",
        budget=burnish.Budget(max_trials=12),
        seed=3,
        db=tmp_path / "x.db",
    )

    best = result.best.configuration.examples
    assert result.best.score == 1.0
    assert len(best) == 4
    assert all(one["output"] == f"It is {one['input']['n'] * 2}." for one in best)
