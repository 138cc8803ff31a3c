"""A rewrite taken apart into lines: nothing is lost, moves are no edits, and edits go together."""

from __future__ import annotations

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from burnish.domain import placeholders
from burnish.domain.json_values import normalise_text
from burnish.optimizers.shared.line_edits import (
    LineEdit,
    apply_edits,
    kept_share,
    key_of,
    split_edits,
    split_units,
)

# Lines of few words are alike by chance, so rewordings, moves and repeats all come up.
WORDS = ["answer", "billing", "with", "one", "label", "never", "guess", "{{ticket}}", "ferry"]
MARKS = ["", "- ", "* ", "1. ", "# ", "  "]
ENDS = ["", ".", "!", " ", "."]
line = st.builds(
    lambda mark, words, end: f"{mark}{' '.join(words)}{end}",
    st.sampled_from(MARKS),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=6),
    st.sampled_from(ENDS),
)
text = st.builds(
    lambda first, lines, breaks: (
        first + "".join(a + b for a, b in zip(lines, breaks, strict=False))
    ),
    st.sampled_from(["", "\n", "\n \n"]),
    st.lists(line, min_size=1, max_size=8),
    st.lists(st.sampled_from(["\n", "\n\n", "\n  \n"]), min_size=8, max_size=8),
)
anything = st.text(st.characters(codec="utf-8"), max_size=400)


def keys(value: str) -> list[str]:
    return [unit.key for unit in split_units(value)]


def joined(value: str) -> str:
    return "".join(unit.text + unit.tail for unit in split_units(value))


class TestUnits:
    @given(text | anything)
    @example("\n\nFirst.\nSecond.")
    @example("one\r\ntwo\x0b\x0cthree\u2028four")
    def test_joined_again_they_give_the_text(self, value):
        assume(value.strip())

        assert joined(value) == value

    @given(text)
    def test_a_short_line_is_one_unit(self, value):
        lines = [one for one in value.split("\n") if one.strip()]

        assert keys(value) == [key_of(one) for one in lines]

    def test_a_long_line_is_read_by_sentences(self):
        sentences = [
            f"Rule {n} says that {'very ' * 8}long tickets go to desk {n}." for n in "abcdef"
        ]
        value = f"Short.\n{' '.join(sentences)}\nEnd."

        assert [unit.text for unit in split_units(value)] == ["Short.", *sentences, "End."]
        assert joined(value) == value

    def test_numbers_and_abbreviations_end_no_sentence(self):
        value = f"Take 3.5 percent, e.g. of {'a ' * 150}sum."

        assert len(split_units(value)) == 1

    @pytest.mark.parametrize("blank", ["", "\n", " \n\t\n"])
    def test_a_blank_text_has_none(self, blank):
        assert split_units(blank) == []


@pytest.mark.parametrize(
    "other",
    [
        "- Say yes.",
        "* say yes",
        "1. Say  yes",
        "SAY YES;",
        "  (2) say yes",
        "# Say yes.",
        "> say yes",
    ],
)
def test_neither_bullets_nor_case_nor_blanks_nor_the_full_stop_make_another_line(other):
    assert key_of(other) == key_of("Say yes.")


class TestSplitting:
    @given(text, text)
    def test_applied_to_the_old_text_the_edits_give_every_line_of_the_new_one(self, old, new):
        edits = split_edits("s", old, new)

        assert set(keys(apply_edits(old, edits))) == set(keys(new))

    @given(text)
    def test_a_text_and_itself_differ_in_nothing(self, value):
        assert split_edits("s", value, value) == []
        assert apply_edits(value, []) == value.rstrip("\n")

    @given(st.lists(line, min_size=1, max_size=8), st.randoms(use_true_random=False))
    def test_moved_lines_are_no_edits(self, lines, chance):
        shuffled = chance.sample(lines, len(lines))

        assert split_edits("s", "\n".join(lines), "\n".join(shuffled)) == []

    @given(text, text)
    def test_placeholders_of_the_new_text_are_all_there(self, old, new):
        after = apply_edits(old, split_edits("s", old, new))

        assert set(placeholders(new)) <= set(placeholders(after))

    @given(text, line)
    def test_an_added_line_is_an_addition_behind_the_line_that_it_stands_behind(self, old, new):
        assume(key_of(new) not in keys(old))
        for place in range(1, len(split_units(old)) + 1):
            units = split_units(old)
            before = "".join(one.text + one.tail for one in units[:place]).rstrip("\n")
            after = "".join(one.text + one.tail for one in units[place:])

            [edit] = split_edits("s", old, f"{before}\n{new}\n{after}")

            assert (edit.old, key_of(edit.new)) == ("", key_of(new))

    def test_a_dropped_line_a_new_one_and_a_reworded_one_are_three_edits(self):
        old = "Route the ticket.\nBe kind.\nAnswer with one label."
        new = "Route the ticket.\nAnswer with exactly one label.\nInvoices go to billing."

        assert split_edits("s", old, new) == [
            LineEdit("s", "Answer with one label.", "Answer with exactly one label."),
            LineEdit(
                "s", "", "Invoices go to billing.", after=key_of("Answer with exactly one label")
            ),
            LineEdit("s", "Be kind.", ""),
        ]

    def test_a_reworded_sentence_of_a_long_line_is_one_edit(self):
        sentences = [
            f"Rule {n} says that {'very ' * 8}long tickets go to desk {n}." for n in "abcdef"
        ]
        old = " ".join(sentences)
        new = old.replace("desk c.", "desk c at once.")

        [edit] = split_edits("s", old, new)

        assert edit == LineEdit("s", sentences[2], sentences[2].replace("c.", "c at once."))
        assert apply_edits(old, [edit]) == new


class TestApplying:
    @given(st.lists(line, min_size=4, max_size=8, unique_by=key_of), st.data())
    def test_edits_of_different_lines_may_come_in_any_order(self, lines, data):
        places = data.draw(st.permutations(range(len(lines))))
        value = "\n".join(lines)
        fresh = ["Parcels belong to shipping.", "Refunds are a matter of the bank."]
        edits = [
            LineEdit("s", lines[places[0]], ""),
            LineEdit("s", lines[places[1]], fresh[0]),
            LineEdit("s", "", fresh[1], after=key_of(lines[places[2]])),
        ]

        results = {
            normalise_text(apply_edits(value, order))
            for order in (edits, edits[::-1], [*edits[1:], edits[0]])
        }

        assert len(results) == 1
        assert key_of(lines[places[0]]) not in keys(results.pop())

    @given(text, text)
    def test_twice_is_as_good_as_once(self, old, new):
        additions = [edit for edit in split_edits("s", old, new) if not edit.old]
        once = apply_edits(old, additions)

        assert apply_edits(once, additions) == once

    def test_a_line_whose_neighbour_is_gone_goes_to_the_end(self):
        assert apply_edits("a\nb", [LineEdit("s", "", "new", after="gone")]) == "a\nb\nnew"

    def test_what_a_rewording_says_is_added_where_its_line_is_gone(self):
        assert apply_edits("a\nb", [LineEdit("s", "gone", "new")]) == "a\nb\nnew"

    def test_what_is_to_be_dropped_and_gone_is_left(self):
        assert apply_edits("a\nb", [LineEdit("s", "gone", "")]) == "a\nb"

    def test_a_line_after_a_sentence_starts_a_line_of_its_own(self):
        sentence = f"This {'very ' * 40}long sentence ends here."
        value = f"{sentence} {sentence.replace('ends', 'stops')} And a third one."

        after = apply_edits(value, [LineEdit("s", "", "- New.", after=key_of(sentence))])

        assert after.split("\n")[:2] == [sentence, "- New."]
        assert after.endswith("stops here. And a third one.")

    def test_paragraphs_stay_paragraphs(self):
        after = apply_edits("a\n\nb\n\nc", [LineEdit("s", "", "new", after="a")])

        assert after == "a\n\nnew\n\nb\n\nc"

    def test_an_empty_text_gets_its_first_line(self):
        assert apply_edits("", [LineEdit("s", "", "new")]) == "new"


def test_the_share_of_old_lines_that_stayed():
    assert kept_share("a\nb\nc\nd", "D.\nnew\n- b") == 0.5
    assert kept_share("", "new") == 1.0


def test_edits_are_told_in_words():
    assert LineEdit("s", "", " new ").describe() == "added “new”"
    assert LineEdit("s", "old", "").describe() == "dropped “old”"
    assert LineEdit("s", "old", "new").describe() == "changed “old” to “new”"


def test_equal_edits_have_equal_keys_wherever_they_stand():
    first, second = LineEdit("s", "", "- New.", after="a"), LineEdit("s", "", "new", after="b")

    assert first.key == second.key != LineEdit("other", "", "new").key
