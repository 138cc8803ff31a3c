"""`gepa`'s questions: which sections, with which words, and what is counted of the answers."""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest
from worlds import facts_of

import burnish
from burnish.domain import Configuration, OptimizerState, SearchSpace, UsageError
from burnish.optimizers import Gepa
from burnish.optimizers.gepa.reflecting import Tally
from burnish.optimizers.gepa.sections import directives, left_out, narrowed, rewritable
from burnish.optimizers.shared.facts import RunFacts

SECTIONS = Configuration.of(
    {
        "sections": {
            "system": "Classify.",
            "extra": "",
            "tools.find": "Gets data.",
            "user": "{{text}}",
        }
    }
)
LABELS = ("billing", "technical", "account", "shipping")
ROWS = [{"text": f"ticket {n} on {LABELS[n % 4]}", "label": LABELS[n % 4]} for n in range(48)]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    """No answer is there from a run before."""
    monkeypatch.chdir(tmp_path)


def label(configuration, item):
    """Right only where a rule names the label."""
    known = f"rule {item['label']}" in configuration["sections"]["system"]
    return item["label"] if known else "praise"


def optimize(model, *, rows=ROWS, sections=None, **settings):
    agent = burnish.Agent(
        name="triage",
        configuration={"sections": sections or {"system": "Classify.", "user": "{{text}}"}},
        run=label,
    )
    suite = burnish.Suite(
        dataset=rows,
        scorers=[{"kind": "exact_match", "field": "label"}],
        split={"train": 0.5, "validation": 0.5},
    )
    return burnish.optimize(
        agent,
        suite,
        optimizer="gepa",
        settings={"model": model, **settings},
        budget=burnish.Budget(max_evaluations=250),
        seed=2,
    )


class TestSections:
    def test_short_and_empty_sections_are_rewritten_and_bare_placeholders_are_not(self):
        facts = facts_of(SECTIONS)

        assert rewritable(facts, None) == ("system", "extra", "tools.find")
        assert "bare placeholder" in left_out(facts, None)["user"]

    def test_a_bare_placeholder_that_is_named_or_alone_is_rewritten(self):
        narrow = narrowed(SearchSpace(), SECTIONS, ["user_template"])
        alone = Configuration.of({"sections": {"user": "{{text}}"}})

        assert rewritable(facts_of(SECTIONS, space=narrow), ["user_template"]) == ("user",)
        assert rewritable(facts_of(alone), None) == ("user",)

    def test_what_is_left_out_is_told_with_the_reason(self):
        narrow = narrowed(SearchSpace(), SECTIONS, ["system_template"])
        named = left_out(facts_of(SECTIONS, space=narrow), ["system_template"])
        locked = left_out(facts_of(SECTIONS, space=SearchSpace(locked=("extra",))), None)

        assert set(named.values()) == {"mutation_strategies does not name it"}
        assert list(named) == ["extra", "tools.find", "user"]
        assert locked["extra"] == "the search space does not let it change"

    def test_strategies_have_directives(self):
        found = directives(["system_template", "user_template", "tools.find"])

        assert list(found) == ["system", "user"]
        assert "bullet" in found["system"]
        assert "clarifying questions" in found["user"]
        assert directives(None) == {}


class TestTally:
    def test_answers_are_counted_by_kind_with_one_example(self):
        tally = Tally()
        for answer, kind in [("no", "refusal"), ("half", "cut"), ("no", "refusal"), ("good", None)]:
            tally.count(answer, kind)
        tally.count("", "empty")

        assert (tally.asked, tally.unusable, tally.in_a_row) == (5, 4, 1)
        assert tally.kinds == {"refusal": 2, "cut": 1, "empty": 1}
        assert tally.example == "no"
        assert tally.in_words() == "2 refusal, 1 cut, 1 empty"

    def test_a_text_that_came_back_unchanged_is_no_fault_of_form(self):
        tally = Tally(in_a_row=3)
        tally.count("the same", "unchanged")

        assert (tally.unusable, tally.in_a_row, tally.kinds) == (0, 0, {"unchanged": 1})

    def test_states_of_before_are_read(self):
        old = {"asked": 3, "unusable": 1, "in_a_row": 0, "example": "no"}

        assert asdict(Tally(**old)) == {**old, "kinds": {}, "in_vain": {}}


class TestRuns:
    def test_the_prompt_has_what_the_run_knows(self):
        asked = []
        optimize(
            lambda prompt: asked.append(prompt) or "```\nRoute it. rule billing\n```",
            mutation_strategies=["system_template"],
            guidance="Be brief.",
            section_guidance={"system": "Name no person.", "user": "Nothing."},
        )

        assert "exact_match: the output is compared with the item's label" in asked[0]
        assert "add bullet instructions" in asked[0]
        assert "Be brief.\nName no person." in asked[0]
        assert "label:" not in asked[0]
        later = "".join(asked[1:])
        assert "tried before" in later
        assert " tasks: The section system was written anew." in later
        assert "shown 1 time before, these tasks led to no new text" in later

    def test_a_short_section_is_rewritten(self):
        def teach(prompt):
            text = prompt.split("```")[1].strip()
            wanted = [f"Follow rule {one}." for one in LABELS if f'expected "{one}"' in prompt]
            return (
                "```\n" + "\n".join([text, *(one for one in wanted if one not in text)]) + "\n```"
            )

        assert optimize(teach).best.score == 1.0

    def test_refusals_end_the_search_with_the_reason(self):
        asked = []
        found = optimize(
            lambda prompt: asked.append(prompt) or "I'm sorry, I can't help with that."
        )

        assert 8 <= len(asked) <= 16
        assert f"(of {len(asked)}: {len(asked)} refusal)" in found.document["stop_message"]
        assert "I can't help with that" in found.document["stop_message"]

    def test_a_call_that_fails_costs_that_proposal_and_not_the_run(self):
        asked = []

        def shaky(prompt):
            asked.append(prompt)
            if len(asked) % 2:
                raise ConnectionError("reset by peer")
            known = " ".join(f"rule {one}" for one in LABELS)
            return f"```\nRoute it. {known}.\n```"

        assert optimize(shaky).best.score == 1.0


@pytest.mark.parametrize(
    "settings",
    [{"guidance": 3}, {"section_guidance": "x"}, {"section_guidance": {"system": 3}}],
)
def test_guidance_is_text(settings):
    with pytest.raises(UsageError, match="guidance"):
        Gepa(**settings)


def test_guidance_for_a_section_that_is_not_there_is_refused():
    with pytest.raises(UsageError, match="no section 'sistem'"):
        optimize(lambda prompt: "", section_guidance={"sistem": "x"})


def test_the_facts_of_a_run_are_kept_in_its_state():
    facts = replace(
        facts_of(SECTIONS),
        criteria=("judge: Polite.",),
        output_schema={"type": "object"},
        answer_fields=("label",),
    )
    kept = facts.to_json()
    added = ("criteria", "output_schema", "answer_fields")
    old = {name: value for name, value in kept["facts"].items() if name not in added}

    assert RunFacts.within(OptimizerState(algorithm_data=kept)) == facts
    assert RunFacts.within(OptimizerState(algorithm_data={"facts": old})).criteria == ()
