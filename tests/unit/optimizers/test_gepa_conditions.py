"""`gepa` under odd conditions: small splits, other scales, useless models, outages, no model at all."""

from __future__ import annotations

import asyncio
import json
import statistics
from dataclasses import replace
from typing import ClassVar

import pytest
from asking_driver import AskingHistory, AskingRun, rows
from gepa_driver import (
    BASELINE,
    ITEMS,
    TRAIN,
    VALIDATION,
    GepaRun,
    counted,
    current_text,
    desk_world,
    gepa_run,
    hashes,
    helpful,
    renamed,
    topic_of,
    with_ids,
)
from worlds import LABELS, REVIEWS, EditWorld

from burnish.domain import (
    Configuration,
    ExperimentStatus,
    OptimizerState,
    StopReason,
    UnavailableError,
)
from burnish.models import as_model, count_tokens
from burnish.optimizers import Gepa


class TestItems:
    def test_without_a_train_split_it_reflects_on_validation_items(self):
        model, asked = counted(helpful)
        run = gepa_run(model, splits={"validation": VALIDATION}).go()

        assert run.best.objective_score == 1
        assert any("Dear all" in prompt for prompt in asked)

    @pytest.mark.parametrize(
        "train",
        [
            1,
            3,
            7,
        ],
    )
    def test_a_train_split_smaller_than_a_look_is_looked_at_as_a_whole(self, train):
        run = gepa_run(
            splits={"train": TRAIN[:train], "validation": VALIDATION}, settings={"look": 24}
        ).go()

        assert sorted(run.batch_items[0]) == list(TRAIN[:train])
        assert run.best.objective_score > 0

    def test_one_validation_item_is_enough(self):
        run = gepa_run(splits={"train": TRAIN, "validation": VALIDATION[:1]}).go()

        assert run.best.objective_score == 1

    def test_repeats_are_paid_and_averaged(self):
        def moody(candidate, item):
            """Every other answer of a known topic is wrong."""
            score, said = desk_world(candidate, item)
            calls[item] = calls.get(item, 0) + 1
            return (score, said) if calls[item] % 2 else (0.0, said)

        calls = {}
        calm = gepa_run(repeats=3, budget=900).go()
        once = gepa_run(budget=300).go()
        shaky = gepa_run(world=moody, repeats=2, budget=400).go(max_trials=60)

        assert calm.best.objective_score == 1
        probed = len(once.batch_items[-1])
        assert calm.spent == 3 * (once.spent - probed)
        assert shaky.spent <= 400

    def test_more_validation_items_than_a_state_holds(self):
        items = {
            **ITEMS,
            **rows(
                "validation", 900, ticket=lambda n: f"Dear all, {n} wrote about a {topic_of(n)}"
            ),
        }
        many = tuple(one.id for one in items.values() if one.split == "validation")
        run = gepa_run(items=items, splits={"train": TRAIN, "validation": many}, budget=2_400).go()

        assert run.best.objective_score == 1
        assert run.spent <= 2_400
        assert len(json.dumps(run.state.to_json())) < 20_000

    def test_failed_items_are_reflected_on_before_the_rest_is_looked_at(self):
        run = gepa_run().go()

        assert set(run.batch_items[0]) < set(TRAIN)


class TestScales:
    @pytest.mark.parametrize(("factor", "offset"), [(100.0, 0.0), (1e-3, 0.0), (10.0, -20.0)])
    def test_scores_on_another_scale(self, factor, offset):
        def world(candidate, item):
            score, said = desk_world(candidate, item)
            return score * factor + offset, said

        class Passing(GepaRun):
            """The suite's threshold is the full score."""

            def _result(self, candidate, item):
                made = super()._result(candidate, item)
                return replace(made, passed=made.score >= factor + offset)

        run = gepa_run(kind=Passing, world=world, settings={"stop_no_improve": 3})
        run.go(max_trials=60)

        assert run.best.objective_score == pytest.approx(factor + offset)


class TestBadModels:
    USELESS: ClassVar = {
        "nothing": lambda prompt: "",
        "a refusal": lambda prompt: "I'm sorry, I cannot help with that.",
        "an empty fence": lambda prompt: "```\n```",
        "the same text": lambda prompt: f"```\n{current_text(prompt)}\n```",
        "a foreign placeholder": lambda prompt: "```\nAnswer {{nothing}} at all.\n```",
        "no placeholder": lambda prompt: "```\nAnswer at once.\n```",
        "one line for everything": lambda prompt: f"```\n{current_text(prompt)}\nBe kind.\n```",
        "binary": lambda prompt: "\x00\x01\ufffe",
    }

    def run(self, kind, budget):
        model, asked = counted(self.USELESS[kind])
        baseline = with_ticket() if kind == "no placeholder" else BASELINE
        return gepa_run(model, budget=budget, baseline=baseline).go(max_trials=200), asked

    @pytest.mark.parametrize("kind", USELESS)
    def test_useless_answers_end_the_run_and_improve_nothing(self, kind):
        run, asked = self.run(kind, 300)

        assert run.best.objective_score == 0
        assert not run.refused
        assert len(asked) <= 300 / 12 + 8
        assert run.spent <= 300

    @pytest.mark.parametrize("kind", ["a refusal", "the same text"])
    def test_without_a_limit_of_evaluations_too(self, kind):
        run, asked = self.run(kind, None)

        assert run.best.objective_score == 0
        assert len(asked) <= 60

    @pytest.mark.parametrize("text", ["New \ud83d rule.", "New \x00 rule."])
    def test_broken_characters_do_not_break_the_run(self, text):
        run = gepa_run(lambda prompt: f"```\n{current_text(prompt)}\n{text}\n```", budget=100).go(
            max_trials=20
        )

        assert len(run.candidates) > 1
        for one in run.candidates.values():
            one.configuration.sections["system"].encode("utf-8")

    def test_a_model_that_is_away_fails_the_step_with_its_own_error(self):
        def away(prompt):
            raise UnavailableError(what="the model", why="is down", fix="start it")

        run = gepa_run(away)

        with pytest.raises(UnavailableError, match="is down"):
            run.go()
        assert len(run.trials) == 1

    def test_calls_beside_a_failing_one_still_end(self):
        ended = []

        async def model(prompt):
            if "parcel" in prompt:
                raise UnavailableError(what="the model", why="is down", fix="start it")
            await asyncio.sleep(0.01)
            ended.append(prompt)
            return helpful(prompt)

        async def ask():
            optimizer = Gepa(model=model)
            optimizer.connect(as_model)
            await optimizer._asker.ask_all(["a parcel", "a ferry", "a boiler"])

        with pytest.raises(UnavailableError):
            asyncio.run(ask())
        assert sorted(ended) == ["a boiler", "a ferry"]


def with_ticket() -> Configuration:
    return BASELINE.with_sections({"system": "Route {{ticket}} to the right desk.\nBe brief."})


class TestLosses:
    """Experiments that fail or are ended early."""

    @pytest.mark.parametrize("status", [ExperimentStatus.FAILED, ExperimentStatus.PRUNED])
    def test_a_trial_that_failed_or_was_pruned_is_not_proposed_again(self, status):
        class Unlucky(GepaRun):
            def _run_trial(self, candidate, incumbent):
                trial = super()._run_trial(candidate, incumbent)
                if len(self.trials) == 2:
                    self.trials[-1] = trial = replace(
                        trial,
                        status=status,
                        objective_score=0.0 if status is ExperimentStatus.PRUNED else None,
                    )
                return trial

        run = gepa_run(kind=Unlucky, budget=500).go(max_trials=60)

        tried = [one.candidate_id for one in run.trials]
        assert len(tried) == len(set(tried)) > 2
        assert not run.refused
        assert run.best.objective_score > 0.5


class TestWithoutAModel:
    def run(self, seed=1, **more) -> AskingRun:
        settings = more.pop("settings", {})
        given = {"baseline": REVIEWS, "labels": LABELS, "world": EditWorld(seed, promise=2.0)}
        return AskingRun(optimizer=lambda: Gepa(**settings), **{**given, "seed": seed, **more})

    def test_it_beats_the_baseline_where_the_usual_helps(self):
        gains = []
        for seed in range(3):
            run = self.run(seed).go(max_trials=20)
            names = run.world.catalog.names_of(run.best_candidate) or ()
            gains.append(run.world.accuracy(names) - run.world.start)

        assert min(gains) >= 0
        assert statistics.mean(gains) > 0.08

    def test_equal_seeds_give_equal_runs_with_nothing_kept_in_the_process(self):
        assert hashes(self.run().go(max_trials=12)) == hashes(self.run().go(max_trials=12))
        assert hashes(self.run(2).go(max_trials=8)) != hashes(self.run().go(max_trials=8))

    def test_candidate_ids_play_no_part(self):
        run = self.run().go(max_trials=12)
        ids = {one.id: f"z{900 - one.number}" for one in run.candidates.values()}
        state = OptimizerState.of(json.loads(renamed(json.dumps(run.state.to_json()), ids)))

        mine = run.optimizer.propose(run.state, AskingHistory(run), 4)
        theirs = run.optimizer.propose(state, AskingHistory(with_ids(run, ids)), 4)

        assert [one.configuration for one in mine] == [one.configuration for one in theirs]

    def test_no_candidate_is_longer_than_the_budget(self):
        most = 40
        long = self.run().go(max_trials=12)
        short = self.run(settings={"max_prompt_tokens": most}).go(max_trials=12)

        assert any(tokens(one) > most for one in long.candidates.values())
        assert len(short.candidates) > 4
        assert all(tokens(one) <= most for one in short.candidates.values())

    def test_a_perfect_baseline_stops_at_once(self):
        run = self.run(world=lambda candidate, item: (1.0, "positive")).go()

        assert run.decision.reason is StopReason.TARGET_REACHED
        assert len(run.trials) == 1


def tokens(candidate) -> int:
    return sum(map(count_tokens, candidate.configuration.sections.values()))
