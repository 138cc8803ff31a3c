"""`gepa` with answers whose meaning spans lines: headings with bullets, tables, prose."""

from __future__ import annotations

import re

import pytest

import burnish

WORDS = {
    "billing": ["refund", "invoice", "charged"],
    "account": ["password", "login"],
    "shipping": ["parcel", "courier", "delivery"],
    "technical": ["crash", "error"],
}
PAIRS = [(word, department) for department, words in WORDS.items() for word in words]
ROWS = [
    {"ticket": f"Number {n * 37}. There is something with the {word} since noon.", "label": label}
    for n in range(100)
    for word, label in [PAIRS[n % 10]]
]
BASE = (
    "Route the ticket to a department: billing, account, technical or shipping.\n"
    "Answer with one word."
)


def with_headings(seen):
    for department, words in seen.items():
        yield f"\n### {department}"
        yield from (f"- {word} or anything like it" for word in words)


def with_table(seen):
    yield "\n| word | department |\n| --- | --- |"
    for department, words in seen.items():
        yield from (f"| {word} | {department} |" for word in words)


def with_prose(seen):
    yield "\n" + " ".join(
        f"A ticket that speaks of {' or '.join(words)} goes to {department}."
        for department, words in seen.items()
    )


def known_by_headings(text):
    """A word counts only below the heading of its department."""
    heading, known = None, {}
    for line in text.split("\n"):
        if line.startswith("### "):
            heading = line[4:]
        elif line.startswith("- ") and heading:
            known[line[2:].split()[0]] = heading
        elif line.strip():
            heading = None
    return known


def known_by_table(text):
    """A row counts only below the head and its rule."""
    known, in_table, above = {}, False, ""
    for line in text.split("\n"):
        in_table = line.startswith("|") and (in_table or above == "| word | department |")
        if in_table and "---" not in line:
            word, department = line.strip("| ").split(" | ")
            known[word] = department
        above = line
    return known


def known_by_prose(text):
    told = re.findall(r"A ticket that speaks of ([\w ]+) goes to (\w+)\.", text)
    return {word: department for words, department in told for word in words.split(" or ")}


STRUCTURES = {
    "headings": (with_headings, known_by_headings),
    "table": (with_table, known_by_table),
    "prose": (with_prose, known_by_prose),
}
CONTRACT = {"max_iterations": 8, "population_size": 4, "stop_no_improve": 3}


@pytest.mark.parametrize("settings", [{}, CONTRACT], ids=["plain", "contract"])
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("structure", STRUCTURES)
def test_a_right_answer_is_tried_as_it_is(structure, seed, settings, tmp_path):
    write, read = STRUCTURES[structure]
    asked = []

    def task(configuration, item):
        known = read(configuration["sections"]["system"])
        words = (word for word, _ in PAIRS if word in item["ticket"])
        return next((known.get(word, "technical") for word in words), "technical")

    def meta(prompt):
        """Writes the section anew, with the words that it is shown."""
        asked.append(prompt)
        seen = {
            department: found
            for department, words in WORDS.items()
            if (found := [word for word in words if word in prompt])
        }
        text = "\n".join([BASE, *write(seen)])
        return f"It did not know which words belong where.\n\n```\n{text}\n```"

    result = burnish.optimize(
        burnish.Agent(
            name="router",
            configuration={"sections": {"system": BASE, "user": "{{ticket}}"}},
            run=task,
            version="1",
        ),
        burnish.Suite(
            dataset=ROWS,
            scorers=[{"kind": "exact_match", "field": "label"}],
            split={"train": 0.4, "validation": 0.4, "test": 0.2},
        ),
        optimizer="gepa",
        settings={"model": meta, **settings},
        budget=burnish.Budget(max_evaluations=300),
        seed=seed,
        db=tmp_path / "runs.db",
    )

    assert result.best.score == 1
    assert result.evaluations <= 300
    assert len(asked) <= 20
