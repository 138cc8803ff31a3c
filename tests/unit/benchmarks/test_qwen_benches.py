"""Benches of the embedded model: their tasks are as their protocol says, and both ways are reported."""

from __future__ import annotations

from types import SimpleNamespace

from bench.qwen.judge import labelled
from bench.qwen.library import HOURS, LOANS, QUESTIONS, SHELVES, fee, find_book, loans, opening
from bench.qwen.runs import section, shuffled
from bench.real.tasks import Task

from burnish.domain import Configuration


def test_every_question_has_an_answer_that_a_tool_gives():
    told = [
        *(find_book(title) for title in SHELVES),
        *(loans(member, state) for member, known in LOANS.items() for state in known),
        *(opening(day) for day in HOURS),
        *(fee(days) for days in range(1, 62)),
    ]

    assert len({question for question, _ in QUESTIONS}) == 60
    assert all(any(answer in one for one in told) for _, answer in QUESTIONS)
    rows = shuffled([{"n": n} for n in range(60)], {"train": 20, "validation": 20, "test": 20})
    assert sorted(row["n"] for row in rows) == list(range(60))


def test_half_of_the_labelled_answers_are_right():
    rows = [{"message": f"m{n}", "label": "abc"[n % 3]} for n in range(90)]
    task = Task(
        name="t", rows=rows, labels=["a", "b", "c"], seed_prompt="", scorer="exact_match", digest=""
    )

    made = labelled(task)

    truth = {row["message"]: row["label"] for row in rows}
    assert [row["label"] for row in made].count("pass") == 30
    assert all((truth[one["message"]] == one["intent"]) == (one["label"] == "pass") for one in made)


def test_the_page_says_whether_it_helped():
    def scored(text):
        sections = {"system": text}
        return SimpleNamespace(score=0.5, configuration=Configuration.of({"sections": sections}))

    def verdict(last, low):
        change = SimpleNamespace(delta=0.1, ci_low=low, ci_high=0.3, p_value=0.04, items=20)
        result = SimpleNamespace(
            baseline=scored("a"), best=scored(last), improvement=change, evaluations=9
        )
        return section("x", "X", result, SimpleNamespace(items=20, score=0.5), 1.0).notes[0]

    assert verdict("b", 0.01).startswith("It improves")
    assert "not proven better" in verdict("b", -0.01)
    assert verdict("a", 0.0).startswith("Nothing was found")
