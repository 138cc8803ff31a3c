"""What changed between two configurations, as values, as JSON and on the terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from burnish.app.report.differences import difference
from burnish.cli.display.differences import print_difference, section_lines
from burnish.domain import Configuration

BEFORE = Configuration.of(
    {
        "sections": {"system": "Sort it.\nBe kind.\nSay one word.", "gone": "x", "same": "y"},
        "parameters": {"temperature": 0, "flag": 1, "seed": 7},
        "examples": [{"input": {"n": 1}, "output": "a"}],
    }
)
AFTER = Configuration.of(
    {
        "sections": {"system": "Sort it well.\nBe kind.\nSay one word.", "same": "y", "new": "z"},
        "parameters": {"temperature": 0.0, "flag": True, "top_p": None},
        "examples": [{"input": {"n": 2}, "output": "b"}, {"input": {"n": 1}, "output": "a"}],
    }
)


def printed(change, **options):
    out = io.StringIO()
    print_difference(Console(file=out, width=100, highlight=False, **options), change)
    return out.getvalue()


def test_every_kind_of_change_is_found_and_nothing_else():
    change = difference(BEFORE, AFTER)

    assert [(one.path, one.before, one.after) for one in change.sections] == [
        ("system", "Sort it.\nBe kind.\nSay one word.", "Sort it well.\nBe kind.\nSay one word."),
        ("gone", "x", None),
        ("new", None, "z"),
    ]
    assert [(one.name, one.before, one.after) for one in change.parameters] == [
        ("flag", (1,), (True,)),
        ("seed", (7,), ()),
        ("top_p", (), (None,)),
    ]
    assert change.examples_changed
    assert len(change.to_json()["examples"]["after"]) == 2


def test_a_configuration_does_not_differ_from_itself():
    change = difference(BEFORE, BEFORE)

    assert change.empty
    assert change.to_json() == {"sections": [], "parameters": [], "examples": None}
    assert printed(change) == "  no difference\n"


def test_lines_are_marked_by_what_happened_to_them():
    assert printed(difference(BEFORE, AFTER)).splitlines() == [
        "  system",
        "    - Sort it.",
        "    + Sort it well.",
        "      Be kind.",
        "      Say one word.",
        "  gone (removed)",
        "    - x",
        "  new (new)",
        "    + z",
        "  parameter flag",
        "    - 1",
        "    + true",
        "  parameter seed",
        "    - 7",
        "  parameter top_p",
        "    + null",
        "  examples: 1 before, 2 after",
        '    + {"input": {"n": 2}, "output": "b"}',
        '      {"input": {"n": 1}, "output": "a"}',
    ]


def test_words_that_changed_within_a_line_are_set_off():
    [section, *_] = difference(BEFORE, AFTER).sections
    lines = [words for mark, words in section_lines(section) if mark == "+"]

    spans = [
        lines[0].plain[span.start : span.end]
        for span in lines[0].spans
        if "reverse" in str(span.style)
    ]
    assert "".join(spans) == " well"


def test_long_stretches_that_stayed_are_only_counted():
    lines = [f"line {n}" for n in range(30)]
    before = Configuration.of({"sections": {"system": "\n".join(lines)}})
    lines[15] = "changed"
    after = Configuration.of({"sections": {"system": "\n".join(lines)}})

    text = printed(difference(before, after))

    assert "… 13 lines as before" in text
    assert "line 14" in text
    assert "line 3\n" not in text


@pytest.mark.parametrize("terminal", [True, False])
def test_foreign_text_cannot_touch_the_terminal(terminal):
    evil = Configuration.of({"sections": {"system": "a\x1b[2Jb"}, "parameters": {"p": "\x1b[2J"}})
    text = printed(
        difference(Configuration.of({"sections": {"system": "ab"}}), evil), force_terminal=terminal
    )

    assert "\x1b[2J" not in text
