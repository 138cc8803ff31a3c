"""The `gepa` optimizer with scripted models: what it finds, when it stops, what it may change."""

from __future__ import annotations

import inspect
import json

import pytest
from asking_driver import AskingHistory
from gepa_driver import (
    VALIDATION,
    GepaRun,
    counted,
    gepa_run,
    hashes,
    helpful,
    renamed,
    with_ids,
)

from burnish.domain import (
    Configuration,
    OptimizerState,
    SearchSpace,
    StopReason,
    UsageError,
)
from burnish.optimizers import Gepa, build_optimizer


class TestSearching:
    def test_it_finds_all_rules_with_few_evaluations(self):
        run = gepa_run().go()

        assert run.decision.reason is StopReason.TARGET_REACHED
        assert run.best.objective_score == 1
        assert run.spent <= 4 * len(VALIDATION)
        assert not run.refused

    def test_the_model_says_why_and_a_join_has_all_its_reasons(self):
        run = gepa_run(settings={"accept_threshold": 2.0}, budget=300).go()

        rewrites, joins = run.of_kind("rewrite"), run.of_kind("join")
        assert all(one.rationale == "Some desks were not named." for one in rewrites)
        assert joins
        assert all(one.rationale.startswith("Joined: Some desks were not") for one in joins)

    def test_equal_seeds_give_equal_runs_and_other_seeds_others(self):
        first, again, other = (
            gepa_run(seed=seed, settings={"accept_threshold": 2.0}, budget=250).go(max_trials=60)
            for seed in (1, 1, 2)
        )

        assert hashes(first) == hashes(again)
        assert [one.objective_score for one in first.trials] == [
            one.objective_score for one in again.trials
        ]
        assert hashes(first) != hashes(other)

    def test_an_optimizer_that_is_kept_proposes_as_a_new_one_does(self):
        """The driver makes a new one for every call, as if each were a resumed run."""
        kept = Gepa(model=helpful, accept_threshold=2.0)
        run = gepa_run(settings={"accept_threshold": 2.0}, budget=200).go(max_trials=60)
        other = gepa_run(settings={"accept_threshold": 2.0}, budget=200)
        other.optimizer._make = lambda: kept
        other.go(max_trials=60)

        assert hashes(run) == hashes(other)
        assert run.state.to_json() == other.state.to_json()

    def test_every_checkpoint_leads_to_the_same_proposals(self):
        seen = []

        class Watched(GepaRun):
            def proposals(self, places):
                state = json.dumps(self.state.to_json(), sort_keys=True)
                made = super().proposals(places)
                seen.append((state, SeenThen(self), places, made))
                return made

        run = gepa_run(kind=Watched, settings={"accept_threshold": 2.0}, budget=200)
        run.go(max_trials=60)

        assert len(seen) > 4
        for state, history, places, made in reversed(seen):
            again = run.optimizer.propose(OptimizerState.of(json.loads(state)), history, places)
            assert again.proposals == made

    def test_candidate_ids_play_no_part(self):
        run = gepa_run(settings={"accept_threshold": 2.0}, budget=200)
        run.start()
        for _ in range(2):
            run.step(max_trials=60)
        ids = {one.id: f"z{900 - one.number}" for one in run.candidates.values()}

        mine = run.optimizer.propose(run.state, AskingHistory(run), 16)
        theirs = run.optimizer.propose(
            OptimizerState.of(json.loads(renamed(json.dumps(run.state.to_json()), ids))),
            AskingHistory(with_ids(run, ids)),
            16,
        )

        mine, theirs = mine.proposals, theirs.proposals
        assert mine
        assert [one.configuration for one in mine] == [one.configuration for one in theirs]
        assert [[ids[parent] for parent in one.parent_candidate_ids] for one in mine] == [
            list(one.parent_candidate_ids) for one in theirs
        ]

    def test_what_is_cached_is_never_asked_for_again(self):
        run = gepa_run(settings={"accept_threshold": 2.0}, budget=300).go(max_trials=60)

        ran = [
            (batch.candidate_id, item)
            for batch, items in zip(run.batches, run.batch_items, strict=True)
            for item in items
        ]
        looks = [pair for pair in ran if pair[0] == "c-0"]
        assert len(looks) == len(set(looks))

    def test_one_place_is_enough(self):
        assert gepa_run(places=1).go().best.objective_score == 1


class SeenThen(AskingHistory):
    """With the results of now, whatever comes later."""

    def __init__(self, run: GepaRun) -> None:
        super().__init__(run)
        self._results = {key: list(value) for key, value in run.results.items()}

    def item_results(self, candidate_id):
        return self._results[candidate_id]


class TestStopping:
    def test_a_perfect_baseline_stops_at_once_and_asks_nobody(self):
        model, asked = counted(helpful)
        run = gepa_run(model, world=lambda candidate, item: (1.0, "x")).go()

        assert run.decision.reason is StopReason.TARGET_REACHED
        assert "1" in run.decision.message
        assert (run.spent, len(run.trials), asked) == (len(VALIDATION), 1, [])

    def test_a_threshold_of_ones_own_is_enough(self):
        run = gepa_run(settings={"accept_threshold": 0.3}).go()

        assert run.decision.reason is StopReason.TARGET_REACHED
        assert "0.3" in run.decision.message

    def test_a_threshold_that_the_baseline_has_is_reached_at_once(self):
        run = gepa_run(settings={"accept_threshold": 0.0}).go()

        assert run.decision.reason is StopReason.TARGET_REACHED
        assert len(run.trials) == 1

    @pytest.mark.parametrize(("most", "model"), [(1, helpful), (2, helpful), (1, None), (5, None)])
    def test_max_iterations_are_trials_and_never_more(self, most, model):
        run = gepa_run(
            model, settings={"max_iterations": most, "accept_threshold": 2.0}, budget=2_000
        ).go(max_trials=60)

        assert run.decision.reason is StopReason.ALGORITHM_SPECIFIC
        assert run.decision.message == f"max_iterations is reached: {most} trials"
        assert len(run.trials) == 1 + most

    @pytest.mark.parametrize("model", [helpful, None])
    def test_stop_no_improve_are_trials_without_a_better_one(self, model):
        run = gepa_run(
            model,
            world=lambda *_: (0.5, "x"),
            settings={"stop_no_improve": 2},
            budget=9_999,
            places=4,
        ).go(max_trials=60)

        assert run.decision.reason is StopReason.NO_IMPROVEMENT
        assert "nothing better than 0.5" in run.decision.message
        assert len(run.trials) <= 1 + 4

    def test_without_a_limit_of_evaluations_it_ends_by_itself(self):
        run = gepa_run(settings={"accept_threshold": 2.0}).go(max_trials=500)

        assert len(run.trials) <= 40

    def test_nothing_that_may_change_is_said(self):
        run = gepa_run(space=SearchSpace(sections=())).go()

        assert run.decision.reason is StopReason.ALGORITHM_SPECIFIC
        assert run.decision.message == "no section may be changed"
        assert len(run.trials) == 1


class TestSections:
    baseline = Configuration.of(
        {
            "sections": {
                "system": "Route the ticket to the right desk.",
                "user": "This is the ticket: {{ticket}}",
                "tools.search": "Search in the handbook of all desks.",
            }
        }
    )

    def changed(self, *strategies, space=None, budget=150, **more) -> set[str]:
        settings = {"mutation_strategies": list(strategies)} if strategies else {}
        run = gepa_run(
            baseline=self.baseline,
            space=space or SearchSpace(),
            budget=budget,
            settings={**settings, "accept_threshold": 2.0},
            **more,
        ).go(max_trials=60)
        return {
            path
            for one in run.candidates.values()
            for path, text in one.configuration.sections.items()
            if text != self.baseline.sections[path]
        }

    @pytest.mark.parametrize(
        ("strategy", "path"),
        [
            ("system_template", "system"),
            ("user_template", "user"),
            ("tools.search", "tools.search"),
            ("system", "system"),
        ],
    )
    def test_a_strategy_names_a_section(self, strategy, path):
        assert self.changed(strategy) == {path}

    def test_several_of_them_are_all_worked_on(self):
        found = [self.changed("system_template", "tools.search", seed=seed) for seed in range(4)]

        assert set.union(*found) == {"system", "tools.search"}

    def test_without_any_every_free_section_that_says_something_is(self):
        free = SearchSpace(locked=("system",))

        found = [self.changed(space=free, seed=seed) for seed in range(4)]

        assert set.union(*found) == {"user", "tools.search"}

    def test_without_a_model_too(self):
        assert self.changed("user_template", model=None) == {"user"}

    def test_an_unknown_strategy_is_refused_when_the_run_starts(self):
        with pytest.raises(UsageError) as refused:
            self.changed("sytem_template")

        assert "'sytem_template'" in refused.value.why
        assert "did you mean 'system_template'?" in refused.value.fix
        assert "tools.search" in refused.value.fix

    def test_one_unknown_strategy_among_good_ones_is_refused_as_well(self):
        with pytest.raises(UsageError, match="crossover"):
            self.changed("system_template", "crossover")

    def test_a_locked_section_is_refused(self):
        with pytest.raises(UsageError, match="'user'") as refused:
            self.changed("user_template", space=SearchSpace(locked=("user",)))

        assert "system, tools.search" in refused.value.fix


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("max_iterations", 0),
        ("max_iterations", 1.5),
        ("population_size", 0),
        ("population_size", True),
        ("exploration_temperature", -0.1),
        ("exploration_temperature", "hot"),
        ("exploration_temperature", float("nan")),
        ("accept_threshold", float("inf")),
        ("accept_threshold", "high"),
        ("stop_no_improve", 0),
        ("mutation_strategies", "system_template"),
        ("mutation_strategies", []),
        ("mutation_strategies", [1]),
        ("mutation_strategies", 5),
        ("max_prompt_tokens", 0),
        ("look", 0),
    ],
)
def test_wrong_settings_are_refused_by_name(setting, value):
    with pytest.raises(UsageError) as refused:
        Gepa(model=helpful, **{setting: value})

    assert repr(setting) in refused.value.what


def test_it_is_built_by_name():
    assert build_optimizer("gepa", {"model": helpful, "look": 4}).look == 4
    with pytest.raises(UsageError, match="iterations"):
        build_optimizer("gepa", {"iterations": 4})


def test_stopping_may_be_awaited_or_not():
    run = gepa_run()
    run.start()
    going_on = Gepa(model=helpful).should_stop(run.state, AskingHistory(run))

    assert not inspect.isawaitable(going_on)
    assert not going_on.should_stop
