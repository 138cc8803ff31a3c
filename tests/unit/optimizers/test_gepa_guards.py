"""What must never get into a candidate of `gepa`, and what must be said about it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from asking_driver import rows
from burnish.optimizers.gepa.moves import Kind, Move, Reason, kind_of
from gepa_driver import (
    ITEMS,
    TRAIN,
    VALIDATION,
    current_text,
    desk_world,
    gepa_run,
    hashes,
    helpful,
    missing_topics,
    rule,
    topic_of,
)

from burnish.domain import Item
from burnish.models import count_tokens
from burnish.optimizers import Gepa

QUOTED = re.compile(r"Hello, it is me")


def quoting(prompt: str) -> str:
    """The helpful answer, with a ticket and its desk on top."""
    ticket = re.search(r"ticket: (Hello.*)", prompt)[1]
    return helpful(prompt).replace("\n```\n", f"\n```\nFor “{ticket}” say desk-x.\n", 1)


def rationales(run) -> list[str]:
    return [one.rationale for one in run.candidates.values() if one.rationale]


class TestQuotes:
    def test_lines_that_quote_training_items_are_left_out_and_the_rationale_says_so(self):
        run = gepa_run(quoting).go()

        assert run.best.objective_score == 1
        assert not any(QUOTED.search(text) for text in run.texts())
        assert any("Lines that quote training items" in said for said in rationales(run))

    def test_nothing_is_said_where_nothing_was_quoted(self):
        assert not any("quote" in said for said in rationales(gepa_run().go()))

    def test_a_model_that_only_quotes_proposes_nothing(self):
        def by_heart(prompt):
            ticket = re.search(r"ticket: (Hello.*)", prompt)[1]
            return f"```\n{current_text(prompt)}\nFor “{ticket}” say desk-x.\n```"

        run = gepa_run(by_heart).go()

        assert not any(QUOTED.search(text) for text in run.texts())

    def test_a_whole_rewrite_that_quotes_is_left_out(self):
        def anew(prompt):
            ticket = re.search(r"ticket: (Hello.*)", prompt)[1]
            return f"```\nYou are a clerk.\nFor example, {ticket} gets desk-x.\n```"

        run = gepa_run(anew, budget=120).go()

        assert not any(QUOTED.search(text) for text in run.texts())

    def test_a_quote_over_several_lines_is_found_too(self):
        parts = [
            "the grey cat sat",
            "upon a warm wall",
            "while two dogs slept",
            "behind our old barn",
        ]
        items = {
            one.id: replace(one, data={"ticket": "\n".join(f"{part} {one.id}" for part in parts)})
            for one in rows("train", 14).values()
        }

        def in_parts(prompt):
            ticket = re.search(r"ticket: (the grey.*?)\n##", prompt, re.DOTALL)[1]
            lines = "\n".join(f"- {part}" for part in ticket.split("\n"))
            return f"```\n{current_text(prompt)}\n{lines}\n```"

        run = gepa_run(
            in_parts,
            items={**ITEMS, **items},
            splits={"train": tuple(items), "validation": VALIDATION},
            budget=150,
        ).go()

        assert not any("warm wall" in text for text in run.texts())


WRAPPINGS = {
    "chatter": "Sure! Here is the improved prompt:\n\n```\n{0}\n```\nLet me know if it helps!",
    "a language": "```markdown\n{0}\n```",
    "a lead-in inside": "```\nImproved instructions:\n{0}\n```",
    "two fences": "Before:\n```\nRoute the ticket.\n```\nAfter:\n```\n{0}\n```",
    "a tag": "<new_instructions>\n{0}\n</new_instructions>",
    "a tag and a fence": "<prompt>\n```\n{0}\n```\n</prompt>",
    "thoughts": "<think>Hm, ```x``` and so on.</think>\n```\n{0}\n```",
    "no fence": "Here is the new prompt:\n\n{0}\n\nI hope this helps!",
    "an open fence": "Some desks were missing.\n```\n{0}",
    "tildes": "~~~\n{0}\n~~~",
    "windows": "Fine.\r\n```\r\n{0}\r\n```\r\n",
}


@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_neither_fences_nor_what_the_model_says_around_get_into_a_candidate(wrapping):
    def model(prompt):
        text = re.search(r"```\n(.*?)\n```", helpful(prompt), re.DOTALL)[1]
        return WRAPPINGS[wrapping].format(text)

    run = gepa_run(model).go()

    assert run.best.objective_score == 1
    known = {*current_lines(), *map(rule, map(topic_of, range(40)))}
    for text in run.texts():
        assert set(text.split("\n")) <= known


def current_lines() -> list[str]:
    return ["Route the ticket to the right desk.", "Say nothing else.", "{{ticket}}"]


class TestLength:
    @pytest.mark.parametrize("most", [30, 60])
    def test_no_candidate_is_longer_than_the_budget(self, most):
        asked = []

        def model(prompt):
            asked.append(prompt)
            return helpful(prompt)

        run = gepa_run(model, settings={"max_prompt_tokens": most}, budget=300).go()

        assert len(run.candidates) > 1
        for one in run.candidates.values():
            assert sum(map(count_tokens, one.configuration.sections.values())) <= most
        assert all(f"Stay below {most} tokens" in prompt for prompt in asked)

    def test_a_baseline_that_is_too_long_may_only_be_shortened(self):
        def shorter(prompt):
            return "```\nRoute it.\n```"

        run = gepa_run(shorter, settings={"max_prompt_tokens": 12}, budget=300).go()

        made = [one for one in run.candidates.values() if one.number]
        assert made
        assert all(
            sum(map(count_tokens, one.configuration.sections.values())) <= 12 for one in made
        )

    def test_rewrites_that_are_too_long_are_not_tried(self):
        def verbose(prompt):
            return (
                "```\n" + "\n".join(f"Rule {n} is long and says little." for n in range(30)) + "```"
            )

        run = gepa_run(verbose, settings={"max_prompt_tokens": 100}, budget=90).go()

        assert not any("Rule 9" in text for text in run.texts())


class TestMiniBatches:
    def test_a_join_runs_failures_and_passes_of_its_parent(self):
        """Only some failures can be mended, so what mended them is not tried in full at once."""

        def partial(prompt):
            known = [one for one in missing_topics(prompt) if one in ("parcel", "invoice")]
            text = "\n".join([current_text(prompt), *map(rule, known)])
            return f"```\n{text}\n```"

        def world(candidate, item):
            score, said = desk_world(candidate, item)
            return (1.0, said) if topic_of(int(item[1:])) in ("ferry", "boiler") else (score, said)

        run = gepa_run(partial, world=world, settings={"look": 24}).go(max_trials=6)

        joins = [
            batch
            for batch in run.batches
            if kind_of(run.candidates[batch.candidate_id]) is Kind.JOIN
        ]
        assert joins
        for batch in joins:
            [parent] = run.candidates[batch.candidate_id].parent_candidate_ids
            known = {one.item_id: one.passed for one in run.results[parent]}
            ran = [one.item_id for one in run.results[batch.candidate_id]]
            assert {known[item] for item in ran if item in known} == {True, False}


def by_number(prompt: str) -> str:
    """Learns cases by heart, in words that quote nothing."""
    told = re.findall(r"wrong, score 0. See (case\d+)", prompt)
    lines = [
        f"Mind {case} well." for case in dict.fromkeys(told) if case not in current_text(prompt)
    ]
    return "\n".join(["```", current_text(prompt), *lines, "```"])


def by_heart_world(candidate, item):
    return float(f"case{item[1:]} " in candidate.configuration.sections["system"]), "x"


VALIDATION_CASES = {
    f"v{number}": Item(id=f"v{number}", data={"ticket": "?"}, split="validation")
    for number in range(100, 124)
}


class TestOverfitting:
    def run(self, **more):
        given = {
            "items": {**ITEMS, **VALIDATION_CASES},
            "splits": {"train": TRAIN, "validation": tuple(VALIDATION_CASES)},
            "feedback": lambda candidate, item: f"See case{item[1:]}.",
            "settings": {"stop_no_improve": 3},
            **more,
        }
        return gepa_run(by_number, world=by_heart_world, **given)

    def test_the_next_candidates_and_the_end_tell_of_it(self):
        run = self.run().go()

        told = [said for said in rationales(run) if "Overfit alarm: candidate" in said]
        assert told
        assert re.search(r"candidate \d+ gained \+\S+ on \d+ train items and \+0 on 24 ", told[0])
        assert re.search(r"\[gepa: \w+\]\Z", told[0])
        assert "brought nothing better than 0; overfit alarm for candidate" in run.decision.message
        assert "by heart" in run.decision.message

    def test_it_changes_nothing_of_what_is_proposed(self, monkeypatch):
        loud = self.run().go()
        monkeypatch.setattr("burnish.optimizers.gepa.optimizer.overfit", lambda desk: None)
        quiet = self.run().go()

        assert not any("alarm" in said for said in rationales(quiet))
        assert hashes(loud) == hashes(quiet)
        assert [one.summary.total_items for one in loud.batches] == [
            one.summary.total_items for one in quiet.batches
        ]

    def test_the_same_run_tells_the_same(self):
        assert rationales(self.run().go()) == rationales(self.run().go())

    def test_what_helps_everywhere_rings_no_alarm(self):
        run = gepa_run().go()

        assert not any("alarm" in said for said in rationales(run))
        assert "alarm" not in run.decision.message

    def test_without_training_items_there_is_nothing_to_compare(self):
        run = self.run(splits={"validation": TRAIN[:20]}).go()

        assert run.best.objective_score > 0
        assert not any("alarm" in said for said in rationales(run))


class TestNotes:
    move = Move(
        configuration=ITEMS,
        parents=(),
        reason=Reason(kind=Kind.LINE, said="Added “x”."),
        items=None,
        cost=1,
    )

    def test_they_stand_before_the_kind(self):
        said = self.move.proposal("One.", "", "Two.").rationale

        assert said == "Added “x”. One. Two. [gepa: line]"

    def test_a_look_has_no_rationale_and_so_no_note(self):
        assert replace(self.move, reason=None).proposal("One.").rationale is None

    def test_long_reasons_are_cut_and_the_kind_stays(self):
        said = Reason(kind=Kind.JOIN, said="x" * 5_000).rationale()

        assert len(said) < 700
        assert said.endswith("… [gepa: join]")


def test_models_see_no_answer_and_no_validation_item():
    asked = []

    def model(prompt):
        asked.append(prompt)
        return helpful(prompt)

    items = {
        one.id: replace(one, data={**one.data, "expected": f"secret-{one.id}"})
        for one in ITEMS.values()
    }
    gepa_run(model, items=items, settings={"accept_threshold": 2.0}, budget=300).go()

    assert asked
    assert not any("secret-" in prompt or "Dear all" in prompt for prompt in asked)
    assert Gepa(model=model).name == "gepa"
