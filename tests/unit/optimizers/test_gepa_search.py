"""The search of `gepa`: which rewrites are accepted, joined, tried in full, and run again."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from typing import ClassVar

import pytest
from asking_driver import AskingHistory
from gepa_driver import (
    TOPICS,
    VALIDATION,
    GepaRun,
    counted,
    current_text,
    desk_world,
    gepa_run,
    helpful,
    missing_topics,
    rule,
    topic_of,
)

from burnish.domain import Candidate, StopReason
from burnish.optimizers import Gepa

HURRY = "Always answer in a hurry."
REFUSAL = "I'm sorry, but I can't help with that."
EASY = TOPICS[2:]


def text_of(candidate: Candidate) -> str:
    return candidate.configuration.sections["system"]


def rules_in(candidate: Candidate) -> set[str]:
    return {topic for topic in TOPICS if rule(topic) in text_of(candidate)}


class TestAccepting:
    def test_what_mends_its_failures_and_breaks_others_gets_no_trial(self):
        """In a hurry, all that went well without any rule goes wrong."""

        def world(candidate, item):
            topic, text = topic_of(int(item[1:])), text_of(candidate)
            return float(rule(topic) in text or (topic in EASY and HURRY not in text)), "desk"

        def hurried(prompt):
            lines = [rule(one) for one in missing_topics(prompt) if one not in EASY]
            return "\n".join(["```", current_text(prompt), *lines, HURRY, "```"])

        run = gepa_run(hurried, world=world, budget=250).go(max_trials=20)

        hasty = [one for one in run.of_kind("rewrite") if HURRY in text_of(one)]
        assert any(mended(run, one) > 0 for one in hasty)
        assert all(HURRY not in text_of(run.candidates[one.candidate_id]) for one in run.trials)

    def test_siblings_are_joined_and_the_join_has_all_of_them_as_parents(self):
        run = gepa_run(settings={"accept_threshold": 2.0}, budget=300).go()

        joins = run.of_kind("join")
        assert joins
        for one in joins:
            parent, *siblings = [run.candidates[other] for other in one.parent_candidate_ids]
            assert len(siblings) > 1
            assert all(sibling in run.of_kind("rewrite") for sibling in siblings)
            assert all(sibling.parent_candidate_ids == (parent.id,) for sibling in siblings)
            assert rules_in(one) == set.union(*map(rules_in, siblings))

    def test_after_a_join_that_fails_the_best_of_its_rewrites_goes_on(self):
        """More than three rules are too much at once."""

        def world(candidate, item):
            score, said = desk_world(candidate, item)
            return (score, said) if len(rules_in(candidate)) <= 3 else (0.0, said)

        run = gepa_run(world=world, budget=300).go(max_trials=20)

        assert any(len(rules_in(one)) > 3 for one in run.of_kind("join"))
        assert len(rules_in(run.best_candidate)) == 3
        assert run.best.objective_score == 0.5


def mended(run: GepaRun, one: Candidate) -> float:
    """How much better it did on what it was shown."""
    [parent] = one.parent_candidate_ids
    before = {result.item_id: result.score for result in run.results[parent]}
    mine = {result.item_id: result.score for result in run.results[one.id]}
    return sum(mine[item] - before[item] for item in one.metadata["shown"])


class TestReflections:
    @pytest.mark.parametrize("budget", [None, 300])
    def test_unusable_answers_are_counted_and_many_in_a_row_end_the_run(self, budget):
        model, asked = counted(lambda prompt: REFUSAL)
        run = gepa_run(model, budget=budget).go()

        assert run.tally["asked"] == run.tally["unusable"] == len(asked)
        assert 8 <= len(asked) < 8 + 8
        assert run.decision.reason is StopReason.ALGORITHM_SPECIFIC
        assert f"{len(asked)} refusal), such as: “{REFUSAL}”" in run.decision.message

    def test_some_unusable_answers_among_good_ones_do_no_harm_and_are_counted(self):
        answers = []

        def moody(prompt):
            answers.append(prompt)
            return helpful(prompt) if len(answers) % 3 else REFUSAL

        run = gepa_run(moody).go()

        assert run.best.objective_score == 1
        assert run.tally["unusable"] == len(answers) // 3
        assert run.tally["example"] == REFUSAL

    @pytest.mark.parametrize("budget", [120, 400])
    @pytest.mark.parametrize("kind", ["helpful", "idle", "the same"])
    def test_they_cost_no_more_than_one_for_twelve_evaluations_and_a_population(self, kind, budget):
        models = {
            "helpful": helpful,
            "idle": lambda prompt: f"```\n{current_text(prompt)}\nCase {len(asked)}.\n```",
            "the same": lambda prompt: f"```\n{current_text(prompt)}\n```",
        }
        model, asked = counted(models[kind])
        run = gepa_run(model, budget=budget, settings={"accept_threshold": 2.0}).go(max_trials=60)

        assert run.tally["asked"] == len(asked) <= budget / 12 + 8
        assert run.spent <= budget


class Repeating(GepaRun):
    """Keeps which candidates were asked to run again."""

    def _run_batch(self, candidate, item_ids, repeats):
        if repeats is not None:
            self.again.setdefault(candidate.id, Counter()).update(item_ids)
        return super()._run_batch(candidate, item_ids, repeats)

    @property
    def again(self) -> dict[str, Counter]:
        return self.__dict__.setdefault("_again", {})


class TestFinals:
    settings: ClassVar = {"accept_threshold": 2.0}

    def test_where_results_stay_one_look_is_all_that_is_repeated(self):
        run = gepa_run(kind=Repeating, settings=self.settings, budget=400).go(max_trials=60)

        assert sum(sum(items.values()) for items in run.again.values()) <= 16
        assert choice_of(run) is None

    def test_where_they_turn_by_luck_the_finalists_run_again_and_the_best_by_all_runs_wins(self):
        chance, asked = random.Random(3), []

        def busy(prompt):
            """Has always something new to say."""
            asked.append(prompt)
            return helpful(prompt).removesuffix("```") + f"Mind case {len(asked)}.\n```"

        def world(candidate, item):
            known = rule(topic_of(int(item[1:]))) in text_of(candidate)
            return float(chance.random() < (0.75 if known else 0.2)), "desk"

        run = gepa_run(busy, kind=Repeating, world=world, settings=self.settings, budget=900)
        run.go(max_trials=60)

        finalists = [one for one, items in run.again.items() if items.keys() >= {*VALIDATION}]
        assert len(finalists) > 1
        assert choice_of(run) == max(finalists, key=lambda one: mean_of(run, one))
        assert run.spent <= 900


def mean_of(run: GepaRun, candidate: str) -> float:
    scores = [one.score for one in run.results[candidate] if one.item_id in VALIDATION]
    return sum(scores) / len(scores)


def choice_of(run: GepaRun) -> str | None:
    return asyncio.run(Gepa(model=helpful).choice(run.state, AskingHistory(run)))
