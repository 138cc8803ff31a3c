"""Blocks of prompt texts: read, put together again, merged and pruned."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.domain import placeholders
from burnish.optimizers.shared.blocks import (
    added,
    blocks_of,
    dropped,
    kept_share,
    merged,
    restored,
    text_of,
    without,
)

WORDS = st.sampled_from(
    ["refund", "parcel", "invoice", "answer", "one word", "JSON", "{{ticket}}", "é", "A|B", "3"]
)
PHRASES = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
SENTENCES = st.tuples(PHRASES, st.sampled_from([".", "!", "?", "", ":"])).map("".join)


def lines(*parts) -> st.SearchStrategy[str]:
    return st.tuples(*parts).map("\n".join)


PROSE = st.lists(SENTENCES.map(str.capitalize), min_size=1, max_size=3).map(" ".join)
WRAPPED = lines(
    PHRASES.map(lambda text: f"This line of prose is long enough to be broken off at {text}"), PROSE
)
HEADINGS = st.tuples(st.sampled_from(["#", "##", "###"]), PHRASES).map(" ".join)
BOLD = PHRASES.map(lambda text: f"**{text}**")
BULLETS = st.lists(
    st.tuples(st.sampled_from(["- ", "* ", "1. ", "2) ", "  - ", "    - "]), PHRASES).map("".join)
    | PHRASES.map(lambda text: f"- {text}\n  and what hangs on it"),
    min_size=1,
    max_size=4,
).map("\n".join)
TABLES = st.lists(PHRASES, min_size=1, max_size=3).map(
    lambda rows: "\n".join(
        ["| word | desk |", "| --- | --- |", *(f"| {one} | x |" for one in rows)]
    )
)
FENCES = PHRASES.map(lambda text: f"```\n{text}\n\n# {text}\n```")
OBJECTS = st.dictionaries(PHRASES, PHRASES | st.integers(), min_size=1, max_size=3)
JSON = st.tuples(OBJECTS, st.sampled_from([None, 2])).map(
    lambda one: json.dumps(one[0], indent=one[1], ensure_ascii=False)
)
LEADS = lines(PHRASES.map(lambda text: f"Mind {text}:"), BULLETS)
PIECES = st.one_of(PROSE, WRAPPED, HEADINGS, BOLD, BULLETS, TABLES, FENCES, JSON, LEADS)
TEXTS = st.lists(
    st.tuples(st.sampled_from(["\n", "\n\n", "\n\n\n"]), PIECES).map("".join),
    min_size=1,
    max_size=6,
).map(lambda parts: "".join(parts).strip("\n"))


def keys(text: str) -> list[str]:
    return [block.key for block in blocks_of(text)]


class TestReading:
    @given(TEXTS)
    def test_a_text_is_what_its_blocks_make(self, text):
        assert text_of(blocks_of(text)) == text

    def test_white_space_at_the_ends_goes_and_blank_lines_are_empty(self):
        assert text_of(blocks_of("\n\n  \nOne.  Two.\n \t\nThree.\n\n")) == "One.  Two.\n\nThree."

    def test_a_block_knows_the_heads_above_it(self):
        text = (
            "Route it. Be brief.\n\n## Words\nMind these:\n- refund\n  or money back\n  - twice\n\n"
            "| word | desk |\n| --- | --- |\n| parcel | x |\n\n# Form\n```\n# no heading\n```"
        )

        assert [(one.path, one.key) for one in blocks_of(text) if not one.is_head] == [
            ((), "route it"),
            ((), "be brief"),
            (("# words", "mind these", "refund or money back"), "twice"),
            (("# words", "| word | desk | | --- | --- |"), "| parcel | x |"),
            (("# form",), "``` # no heading ```"),
        ]

    @pytest.mark.parametrize("last", ["**Never guess.**", "## Ticket", "Mind this:"])
    def test_a_heading_of_nothing_is_a_line_as_any_other(self, last):
        text = f"Route it.\n\n{last}"

        assert text_of(blocks_of(text)) == text
        assert [one.is_head for one in blocks_of(text)] == [False, False]
        assert last in merged("Route it.", "Route it.\n- x", text)

    def test_what_is_fenced_within_a_bullet_belongs_to_it(self):
        text = "- Like so:\n  ```\n  one\n\n  two\n  ```\n- Be brief."

        assert keys(text) == ["like so: ``` one two ```", "be brief"]

    def test_bullets_case_and_stops_make_no_difference(self):
        assert keys("- Be brief.") == keys("2) be  brief") == keys("Be brief")


BASE = "Route the ticket.\nAnswer with one word."

# Base, two rewrites of it, and their merge.
MERGES = {
    "below the same heading": (
        BASE,
        f"{BASE}\n\n### billing\n- refund",
        f"{BASE}\n\n### billing\n- invoice\n\n### account\n- login",
        f"{BASE}\n\n### billing\n- refund\n- invoice\n\n### account\n- login",
    ),
    "above what is under a heading": (
        f"{BASE}\n\n# Form\nPlain text.",
        f"{BASE}\n\n# Form\nPlain text.\n\n## Tone\n- kind",
        f"{BASE} Never guess.\n\n# Form\nPlain text. No lists.",
        f"{BASE} Never guess.\n\n# Form\nPlain text. No lists.\n\n## Tone\n- kind",
    ),
    "rows of a table": (
        BASE,
        f"{BASE}\n\n| word | desk |\n| --- | --- |\n| refund | billing |\n\nThat is all.",
        f"{BASE}\n\n| word | desk |\n| --- | --- |\n| login | account |",
        f"{BASE}\n\n| word | desk |\n| --- | --- |\n| refund | billing |\n| login | account |"
        "\n\nThat is all.",
    ),
    "fields of an object": (
        BASE,
        f'{BASE}\n\n{{"billing": ["refund"], "tone": {{"kind": true}}}}',
        f'{BASE}\n\n{{"billing": ["invoice"], "tone": {{"brief": true}}, "account": ["login"]}}',
        f'{BASE}\n\n{{"billing": ["refund", "invoice"], "tone": {{"kind": true, "brief": true}}, '
        '"account": ["login"]}',
    ),
    "fields of an object that is there": (
        '{"task": "route", "form": "word"}',
        '{"task": "route", "form": "word", "billing": "refund"}',
        '{"task": "route", "form": "one word", "account": "login"}',
        '{"task": "route", "form": "one word", "billing": "refund", "account": "login"}',
    ),
    "objects that are examples": (
        'Like these:\n\n{"in": "refund", "out": "billing"}\n{"in": "login", "out": "account"}',
        'Like these:\n\n{"in": "refund", "out": "billing"}\n{"in": "login", "out": "account"}\n'
        '{"in": "crash", "out": "technical"}',
        'Like these:\n\n{"in": "refund", "out": "billing"}\n{"in": "login", "out": "account"}\n'
        '{"in": "parcel", "out": "shipping"}',
        'Like these:\n\n{"in": "refund", "out": "billing"}\n{"in": "login", "out": "account"}\n'
        '{"in": "parcel", "out": "shipping"}\n{"in": "crash", "out": "technical"}',
    ),
    "sentences": (
        "Route the ticket. Answer with one word.",
        "Route the ticket. A refund is for billing. Answer with one word.",
        "Route the ticket. Answer with one word. A login is for account.",
        "Route the ticket. A refund is for billing. Answer with one word. A login is for account.",
    ),
    "nested bullets": (
        "- billing\n- account",
        "- billing\n  - refund\n- account",
        "- billing\n  - invoice\n- account\n  - login",
        "- billing\n  - refund\n  - invoice\n- account\n  - login",
    ),
    "a reworded block": (
        BASE,
        f"{BASE}\nNever guess.",
        "Route the ticket to a desk.\nAnswer with one word.",
        "Route the ticket to a desk.\nAnswer with one word.\nNever guess.",
    ),
    "a block that both reworded": (
        BASE,
        "Route the ticket to a desk.\nAnswer with one word.",
        "Route the ticket at once.\nAnswer with one word.",
        "Route the ticket to a desk.\nAnswer with one word.",
    ),
    "a block that moved": (
        "## billing\n- refund\n- login\n\n## account\n- password",
        "## billing\n- refund\n- login\n\n## account\n- password\n- mail",
        "## billing\n- refund\n\n## account\n- password\n- login",
        "## billing\n- refund\n\n## account\n- password\n- login\n- mail",
    ),
    "what one side left out": (
        BASE,
        f"{BASE}\nNever guess.",
        "Route the ticket.\nMind the words.",
        "Route the ticket.\nMind the words.\nAnswer with one word.\nNever guess.",
    ),
    "placeholders stay": (
        "Read {{ticket}} and route it.",
        "Read {{ticket}} and route it.\nNever guess.",
        "Read the ticket and route it.\nBe brief.",
        "Read {{ticket}} and route it.\nNever guess.\nBe brief.",
    ),
}


class TestMerging:
    @pytest.mark.parametrize("case", MERGES)
    def test_what_two_rewrites_added_is_in_one_text(self, case):
        base, first, other, both = MERGES[case]

        assert merged(base, first, other) == both

    @given(TEXTS, TEXTS)
    def test_a_text_with_itself_or_with_the_base_is_itself(self, base, text):
        assert merged(base, text, text) == text
        assert merged(base, text, base) == text
        assert restored(text, text) == text

    @given(TEXTS, TEXTS, TEXTS)
    def test_no_placeholder_is_lost(self, base, first, other):
        made = merged(base, first, other)

        assert {*placeholders(base)} & {*placeholders(first)} <= {*placeholders(made)}

    @given(TEXTS, st.lists(PIECES, max_size=2), st.lists(PIECES, max_size=2))
    def test_all_that_either_added_and_both_kept_is_there(self, base, mine, theirs):
        first, other = ("\n\n".join([base, *more]) for more in (mine, theirs))
        made = merged(base, first, other)

        assert {*keys(first), *keys(other)} - jsons(first) - jsons(other) <= {*keys(made)}

    @given(TEXTS, st.randoms(use_true_random=False))
    def test_what_was_left_out_comes_back(self, base, chance):
        plain = [one for one in blocks_of(base) if not one.is_head]
        text = without(base, chance.sample(plain, chance.randint(0, len(plain))))
        made = restored(base, text)

        assert {*keys(text)} <= {*keys(made)}
        assert added(base, text) or {*keys(base)} <= {*keys(made)}

    def test_a_heading_with_a_bar_is_no_table(self):
        line = "This line of prose is long enough to be broken off at the bar"
        base = f"# A|B\n{line} A|B\n\nRefund. Answer."
        text = without(base, blocks_of(base)[2:])

        assert restored(base, text) == base

    def test_what_follows_a_table_without_rows_is_no_row_of_it(self):
        table = "| word | desk |\n| --- | --- |"
        base = f"{table}\n| refund | x |\n\nRefund. A|b.\n{table}\n| parcel | y |"
        text = without(base, [blocks_of(base)[1], blocks_of(base)[3]])

        assert f"{table}\n\nRefund. A|b.\n" in restored(base, text)

    def test_a_dropped_block_comes_back_at_its_place_and_a_reworded_one_stays_reworded(self):
        base = "Read it.\nRoute the ticket.\nAnswer with one word."

        assert restored(base, "Read it.\nAnswer in one word.\nNever guess.") == (
            "Read it.\nRoute the ticket.\nAnswer in one word.\nNever guess."
        )

    def test_differences_are_blocks_without_their_heads(self):
        new = f"{BASE}\n\n### billing\n- refund"

        assert [one.text for one in added(BASE, new)] == ["- refund"]
        assert [one.text for one in dropped(new, BASE)] == ["- refund"]
        assert added(new, BASE) == []

    def test_the_share_of_kept_blocks_counts_an_object_as_kept(self):
        assert kept_share(BASE, f"Route the ticket.\n{'x' * 9}") == 0.5
        assert kept_share('{"a": 1}', '{"a": 1, "b": 2}') == 1
        assert kept_share("", BASE) == 1


def jsons(text: str) -> set[str]:
    return {block.key for block in blocks_of(text) if block.is_json}


class TestPruning:
    def drop(self, text: str, *words: str) -> str:
        return without(text, [b for b in blocks_of(text) if any(w in b.text for w in words)])

    def test_heads_that_lose_all_below_them_go_as_well(self):
        text = f"{BASE}\n\n## Words\n### billing\n- refund\n\n### account\n- login"

        assert self.drop(text, "refund") == f"{BASE}\n\n## Words\n\n### account\n- login"
        assert self.drop(text, "refund", "login") == BASE

    def test_the_first_sentence_below_a_heading_leaves_the_heading_alone(self):
        assert self.drop("# Form\n\nPlain text. No lists.", "Plain") == "# Form\n\nNo lists."

    def test_a_head_with_a_placeholder_stays(self):
        assert self.drop("Route {{ticket}} so:\n- refund", "refund") == "Route {{ticket}} so:"

    @given(TEXTS, st.randoms(use_true_random=False))
    def test_all_else_stays_as_it_is(self, text, chance):
        plain = [one for one in blocks_of(text) if not one.is_head]
        gone = {one.place for one in chance.sample(plain, chance.randint(0, len(plain)))}
        left = [one.text for one in plain if one.place not in gone]

        made = without(text, [one for one in plain if one.place in gone])

        assert [one for one in left if one not in made] == []
