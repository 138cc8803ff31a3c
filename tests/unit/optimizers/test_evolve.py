"""The `evolve` optimizer: mechanical alone, with a model, and with a bad one."""

from __future__ import annotations

import random
import re
import statistics

import pytest
from asking_driver import AskingRun, rows
from worlds import LABELS, REVIEWS, EditWorld, facts_of

from burnish.domain import Candidate, Configuration, SearchSpace, StopReason, UsageError
from burnish.optimizers import Evolve, build_optimizer
from burnish.optimizers.evolve.crossover import ChildMaker

TEXTS = Configuration.of({"sections": {"system": "Route the ticket.", "user": "{{ticket}}"}})
RULES = [f"- Tickets about {word} go to desk {n}." for n, word in enumerate("abcdefgh")]
ITEMS = {
    **rows("train", 20, ticket=lambda n: f"some long ticket of number {n} about x{n}"),
    **rows("validation", 40, ticket=lambda n: f"another ticket of number {n} about y{n}"),
}
SPLITS = {
    name: tuple(one.id for one in ITEMS.values() if one.split == name)
    for name in ("train", "validation")
}


def rule_world(candidate, item):
    said = candidate.configuration.sections["system"]
    return float(int(item[1:]) % 10 < 2 + sum(rule in said for rule in RULES)), "x"


def writer(prompt: str) -> str:
    """Joins all rules it sees, and knows one more that depends on the prompt alone."""
    first = re.search(r"```\n(.*?)\n```", prompt, re.DOTALL)[1]
    known = [rule for rule in RULES if rule in prompt]
    more = random.Random(prompt).choice(RULES)
    lines = dict.fromkeys([*first.split("\n"), *known, more])
    return "More rules.\n```\n" + "\n".join(lines) + "\n```"


def texts_run(model=writer, **more) -> AskingRun:
    settings = more.pop("settings", {})
    given = {"baseline": TEXTS, "world": rule_world, "items": ITEMS, "splits": SPLITS, **more}
    return AskingRun(optimizer=lambda: Evolve(model=model, **settings), **given)


def edits_run(seed=1, **more) -> AskingRun:
    settings = more.pop("settings", {})
    given = {"baseline": REVIEWS, "labels": LABELS, "world": EditWorld(seed), "seed": seed, **more}
    return AskingRun(optimizer=lambda: Evolve(**settings), **given)


def hashes(run: AskingRun) -> list[str]:
    return [one.configuration.hash for one in run.candidates.values()]


class TestMechanical:
    def test_children_are_valid_new_and_have_true_parents(self):
        run = edits_run().go(max_trials=40)

        assert len(run.trials) == 41
        assert not run.refused
        assert {len(one.parent_candidate_ids) for one in run.candidates.values()} == {0, 1, 2}

    def test_it_gets_better(self):
        gains = []
        for seed in range(3):
            run = edits_run(seed, settings={"patience": 100}).go(max_trials=40)
            names = run.world.catalog.names_of(run.best_candidate) or ()
            gains.append(run.world.accuracy(names) - run.world.start)

        assert statistics.mean(gains) > 0.05

    def test_equal_seeds_give_equal_runs_with_nothing_kept_in_the_process(self):
        assert hashes(edits_run().go(max_trials=16)) == hashes(edits_run().go(max_trials=16))
        assert hashes(edits_run(seed=2).go(max_trials=8)) != hashes(edits_run().go(max_trials=8))

    def test_parents_come_from_the_population(self):
        run = edits_run(settings={"population": 2, "tournament": 1}).go(max_trials=30)

        scores = {one.candidate_id: one.objective_score for one in run.trials}
        last = [one for one in run.candidates.values() if 25 <= one.number <= 28]
        before = sorted((scores[f"c-{number}"] for number in range(25)), reverse=True)
        for one in last:
            assert all(scores[parent] >= before[1] for parent in one.parent_candidate_ids)

    def test_locked_sections_stay(self):
        run = edits_run(space=SearchSpace(locked=("user",))).go(max_trials=12)

        assert {one.configuration.sections["user"] for one in run.candidates.values()} == {
            "{{review}}"
        }

    def test_nothing_to_change_is_said(self):
        run = edits_run(space=SearchSpace(sections=()), labels=()).go()

        assert run.decision.reason is StopReason.ALGORITHM_SPECIFIC


class TestBreeding:
    facts = facts_of(TEXTS)

    def candidate(self, number: int, system: str) -> Candidate:
        configuration = TEXTS.with_sections({"system": system})
        return Candidate(
            id=f"c-{number}",
            optimization_id="o",
            number=number,
            step_index=1,
            configuration=configuration,
        )

    def test_lines_come_from_either_parent(self):
        first = self.candidate(1, "\n".join(["Route.", *RULES[:3]]))
        second = self.candidate(2, "\n".join(["Route.", *RULES[3:6]]))
        maker = ChildMaker(self.facts, max_edits=6)

        children = [
            maker.cross(first, second, random.Random(f"c{n}")).configuration.sections["system"]
            for n in range(30)
        ]

        assert {line for text in children for line in text.split("\n")} == {"Route.", *RULES[:6]}
        assert len(set(children)) > 10
        assert any(all(rule in text for rule in RULES[:3]) for text in children)
        assert any(any(rule in text for rule in RULES[3:6]) for text in children)

    def test_texts_of_a_model_are_mutated_too(self):
        parent = self.candidate(1, "\n".join(["Route the ticket to a desk.", *RULES[:3]]))
        maker = ChildMaker(self.facts, max_edits=6)

        children = [maker.mutate(parent, random.Random(f"m{n}")) for n in range(30)]

        texts = {one.configuration.sections["system"] for one in children if one}
        assert len(texts - {parent.configuration.sections["system"]}) > 3

    def test_parameters_come_from_either_parent(self):
        def with_words(number, words):
            one = self.candidate(number, f"Text {number}.")
            return Candidate(
                id=one.id,
                optimization_id="o",
                number=number,
                step_index=1,
                configuration=Configuration.of(
                    {**one.configuration.to_json(), "parameters": {"label_words": words}}
                ),
            )

        maker = ChildMaker(self.facts, max_edits=6)
        made = [
            maker.cross(with_words(1, {"a": "A"}), with_words(2, {"a": "B"}), random.Random(str(n)))
            for n in range(20)
        ]

        assert {one.configuration.parameters["label_words"]["a"] for one in made} == {"A", "B"}


class TestWithAModel:
    def test_it_climbs(self):
        run = texts_run().go(max_trials=24)

        assert run.best.objective_score >= 0.9
        assert not run.refused
        assert any(len(one.parent_candidate_ids) == 2 for one in run.candidates.values())

    def test_equal_seeds_give_equal_runs(self):
        assert hashes(texts_run().go(max_trials=12)) == hashes(texts_run().go(max_trials=12))

    def test_the_model_sees_failed_training_items_only(self):
        asked = []

        def model(prompt):
            asked.append(prompt)
            return writer(prompt)

        run = texts_run(model).go(max_trials=12)

        assert run.batches[0].candidate_id == "c-0"
        assert any("about x" in prompt for prompt in asked)
        assert not any("about y" in prompt for prompt in asked)
        assert any("Cross both texts" in prompt for prompt in asked)
        assert any("Say the same in other words" in prompt for prompt in asked)

    @pytest.mark.parametrize(
        "answer", ["", "```\n```", "I'm sorry.", "```\n{{other}}\n```", "\x00"]
    )
    def test_a_bad_answer_is_replaced_by_a_mechanical_child(self, answer):
        run = texts_run(lambda prompt: answer).go(max_trials=8)

        assert len(run.trials) == 9
        assert not run.refused


@pytest.mark.parametrize(
    "settings", [{"population": 1}, {"crossover": 2}, {"tournament": 0}, {"patience": 0}]
)
def test_bad_settings_are_refused(settings):
    with pytest.raises(UsageError, match=next(iter(settings))):
        build_optimizer("evolve", settings)
