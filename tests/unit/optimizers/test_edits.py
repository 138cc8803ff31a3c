"""The edits optimizer: stops when it should, resumes into the same run, and finds what helps."""

from __future__ import annotations

import json
import statistics
from dataclasses import replace
from functools import cache

import pytest
from driver import FakeHistory, Run
from worlds import LABELS, REVIEWS, EditWorld

from burnish.domain import (
    Configuration,
    ExperimentStatus,
    OptimizerState,
    SearchSpace,
    StopReason,
    UsageError,
)
from burnish.optimization.racing import Racing, RacingMode
from burnish.optimizers import Edits, RandomSearch
from burnish.optimizers.edits.edit_catalog import EditCatalog
from burnish.optimizers.edits.optimizer import screening_queue
from burnish.optimizers.shared.facts import RunFacts


def new_run(optimizer=None, world=None, **more) -> Run:
    given = {"baseline": REVIEWS, "labels": LABELS, **more}
    return Run(optimizer=optimizer or Edits(), world=world or EditWorld(seed=3), **given)


def share_of_gain(run: Run, world: EditWorld) -> float:
    best = run.best_candidate
    names = () if best.number == 0 else world.catalog.names_of(best)
    return (world.accuracy(names) - world.start) / (world.best - world.start)


def right(candidate, item):
    return 1.0, "positive"


class TestStopping:
    def test_a_perfect_baseline_stops_at_once(self):
        run = new_run(world=right).go()

        assert run.decision.reason is StopReason.TARGET_REACHED
        assert len(run.trials) == 1

    def test_a_target_of_ones_own_is_enough(self):
        run = new_run(Edits(target=0.7), EditWorld(seed=3)).go(max_trials=60)

        assert run.decision.reason is StopReason.TARGET_REACHED
        assert run.best.objective_score >= 0.7

    def test_scores_above_one_are_another_scale_and_no_perfection(self):
        run = new_run(world=lambda candidate, item: (2.5, "x")).go(max_trials=8)

        assert len(run.trials) == 9

    def test_patience_ends_and_says_so(self):
        run = new_run(Edits(patience=2), lambda candidate, item: (0.5, "x")).go(max_trials=60)

        assert run.decision.reason is StopReason.NO_IMPROVEMENT
        assert len(run.trials) == 1 + 8
        assert "0.5" in run.decision.message

    def test_an_exhausted_library_has_converged(self):
        run = new_run(
            Edits(patience=100, max_edits=2),
            lambda candidate, item: (0.5, "x"),
            baseline=Configuration.of({"sections": {"system": "Do.", "user": "{{q}}"}}),
            labels=(),
            space=SearchSpace(locked=("system",), max_section_chars=12),
        ).go(max_trials=400)

        assert run.decision.reason is StopReason.CONVERGENCE
        assert 1 < len(run.trials) < 50

    def test_nothing_to_edit_has_converged_at_once(self):
        run = new_run(labels=(), space=SearchSpace(sections=())).go()

        assert run.decision.reason is StopReason.CONVERGENCE
        assert len(run.trials) == 1


class TestProposing:
    def test_the_same_state_and_history_propose_alike_in_a_new_instance(self):
        run = new_run().go(max_trials=8)
        state = OptimizerState.of(json.loads(json.dumps(run.state.to_json())))

        there = Edits().propose(state, FakeHistory(run), 4)
        here = run.optimizer.propose(run.state, FakeHistory(run), 4)

        assert there == here
        assert len(there) == 4

    def test_seeds_differ(self):
        first = new_run(seed=1).go(max_trials=16)
        second = new_run(seed=2).go(max_trials=16)

        assert [one.configuration.hash for one in first.candidates.values()] != [
            one.configuration.hash for one in second.candidates.values()
        ]

    def test_candidate_ids_play_no_part(self):
        run = new_run().go(max_trials=8)
        renamed = {one.id: f"z{100 - one.number}" for one in run.candidates.values()}
        other = replace_ids(run, renamed)

        assert [one.configuration.hash for one in propose(other)] == [
            one.configuration.hash for one in propose(run)
        ]

    def test_parents_are_the_candidates_it_was_made_from(self):
        run = new_run().go(max_trials=20)
        catalog = EditCatalog.of(RunFacts.within(run.state))

        later = [one for one in run.candidates.values() if one.number > 4]
        first = [one for one in run.candidates.values() if 0 < one.number <= 4]

        assert all(one.parent_candidate_ids == ("c-0",) for one in first)
        assert any(one.parent_candidate_ids != ("c-0",) for one in later)
        for one in later:
            mine = set(catalog.names_of(one))
            for parent in one.parent_candidate_ids:
                theirs = catalog.names_of(run.candidates[parent]) or ()
                assert not theirs or mine & set(theirs) or len(theirs) == 1

    def test_nothing_is_proposed_twice(self):
        run = new_run(Edits(patience=100, target=2.0)).go(max_trials=40)

        assert len({one.configuration.hash for one in run.candidates.values()}) == 41
        assert not run.refused

    def test_the_input_and_the_format_are_screened_first(self):
        queue = screening_queue(EditWorld(seed=1).catalog)

        assert [name.split(":")[0] for name in queue[0]] == ["frame", "cue"]
        assert {name.split(":")[0] for names in queue for name in names} >= {
            "frame",
            "cue",
            "format",
            "words",
            "definitions",
            "task",
            "instruct",
            "persona",
            "care",
            "lead",
        }

    def test_a_place_that_is_taken_is_not_proposed_again(self):
        """As when trials run one by one and each free place is filled at once."""
        run = new_run()
        run.start()

        four = run.optimizer.propose(run.state, FakeHistory(run), 4)
        one_more = run.optimizer.propose(run.state, FakeHistory(run), 1)

        taken = {one.configuration.hash for one in four[:3]}
        assert one_more[0].configuration.hash not in taken

    def test_one_place_a_step_screens_several_sets_too(self):
        run = new_run(places=1).go(max_trials=4)

        assert all(one.parent_candidate_ids in ((), ("c-0",)) for one in run.candidates.values())
        assert [len(run.candidates[f"c-{number}"].parent_candidate_ids) for number in range(5)] == [
            0,
            1,
            1,
            1,
            1,
        ]

    def test_observing_nothing_moves_on(self):
        run = new_run().go(max_trials=8)
        later = run.optimizer.observe(run.state, [])

        there = run.optimizer.propose(later, FakeHistory(run), 4)
        here = run.optimizer.propose(run.state, FakeHistory(run), 4)

        assert later.generation == run.state.generation + 1
        assert [one.rationale for one in there] != [one.rationale for one in here]

    def test_a_failed_trial_is_no_observation(self):
        run = new_run().go(max_trials=8)
        failed = [
            replace(one, status=ExperimentStatus.FAILED, objective_score=None)
            for one in run.trials[1:]
        ]
        run.trials = [run.trials[0], *failed]

        assert len(run.optimizer.propose(run.state, FakeHistory(run), 4)) == 4


@cache
def shared_world(seed: int, promise: float) -> EditWorld:
    """A world that several runs meet: what can be gained in it is searched for once."""
    return EditWorld(seed=seed, promise=promise)


def mean_share(make, *, promise: float, worlds: int = 5, **more) -> float:
    """Over worlds that no setting was chosen on; 20 trials of 88 items each."""
    shares = []
    for seed in range(200, 200 + worlds):
        world = shared_world(seed, promise)
        run = new_run(make(), world, seed=seed, **more).go(max_trials=20)
        shares.append(share_of_gain(run, world))
    return statistics.mean(shares)


class TestFinding:
    """Worlds with effects of edits, effects of pairs, noise and collapse."""

    def test_it_finds_four_fifths_of_what_can_be_gained_where_the_usual_helps(self):
        found = mean_share(Edits, promise=2.0)

        assert found >= 0.8
        assert found > mean_share(RandomSearch, promise=2.0) + 0.15

    def test_it_beats_random_search_where_anything_may_help(self):
        found = mean_share(Edits, promise=0.0, worlds=10)

        assert found >= 0.6
        assert found > mean_share(RandomSearch, promise=0.0, worlds=10) + 0.1

    def test_it_bears_racing(self):
        """Pruned trials carry few items; what they say is weighed by that."""
        racing = Racing(mode=RacingMode.AGGRESSIVE)

        assert mean_share(Edits, promise=2.0, racing=racing) >= 0.8

    def test_it_bears_results_that_come_one_by_one(self):
        shares, refused = [], 0
        for seed in range(200, 203):
            world = shared_world(seed, 2.0)
            run = new_run(world=world, seed=seed).go_one_by_one()
            shares.append(share_of_gain(run, world))
            refused += len(run.refused)

        assert statistics.mean(shares) >= 0.8
        assert refused <= 3

    def test_it_leaves_what_collapses(self):
        """One family always collapses; it is tried and then avoided."""

        def world(candidate, item):
            names = catalog.names_of(candidate) or ()
            if any(name.startswith("words:") for name in names):
                return float(item < "v44"), "positive"
            return float(item < f"v{55 + 5 * len(names):02}"), "positive" if item < "v5" else "no"

        catalog = EditWorld(seed=1).catalog
        run = new_run(Edits(patience=50), world).go(max_trials=40)

        late = [one for one in run.candidates.values() if one.number > 20]
        share = sum("words:" in one.rationale for one in late) / len(late)
        assert share < 0.2

    def test_a_harmful_line_is_found_and_dropped(self):
        lines = ["Summarize the text.", "Use English.", "Always answer with a poem.", "Be exact."]

        def world(candidate, item):
            text = candidate.configuration.sections["prompt"]
            return (0.3 if "poem" in text else 0.7), item

        run = new_run(
            world=world,
            baseline=Configuration.of({"sections": {"prompt": "\n".join(lines) + "\n\n{{text}}"}}),
            labels=(),
        ).go(max_trials=20)

        assert run.best.objective_score == pytest.approx(0.7)


@pytest.mark.parametrize(
    "settings",
    [
        {"patience": 0},
        {"max_edits": 1.5},
        {"target": "high"},
        {"edit_cost": -1},
        {"patience": True},
    ],
)
def test_settings_out_of_range_are_refused(settings):
    with pytest.raises(UsageError) as refused:
        Edits(**settings)

    assert next(iter(settings)) in refused.value.what


def propose(run: Run):
    return run.optimizer.propose(run.state, FakeHistory(run), 4)


def replace_ids(run: Run, ids: dict[str, str]) -> Run:
    """The same run with other candidate ids."""
    other = new_run()
    other.candidates = {
        ids[one.id]: replace(
            one,
            id=ids[one.id],
            parent_candidate_ids=tuple(ids[parent] for parent in one.parent_candidate_ids),
        )
        for one in run.candidates.values()
    }
    other.trials = [replace(one, candidate_id=ids[one.candidate_id]) for one in run.trials]
    other.results = {ids[key]: value for key, value in run.results.items()}
    text = json.dumps(run.state.to_json())
    for old, new in ids.items():
        text = text.replace(f'"{old}"', f'"{new}"')
    other.states = [OptimizerState.of(json.loads(text))]
    return other
