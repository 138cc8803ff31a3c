"""Complaints that refinement resolved again and again."""

from dataclasses import replace

from known import result
from worlds import REVIEWS, facts_of

from burnish.optimizers.shared.reflection import Question, recurring_reasons
from burnish.testing.samples.experiments import make_refinement


def refined(item, reason, **changes):
    return result(item, 1.0, refinement=make_refinement(first_reason=reason, **changes))


def test_what_recurs_is_told_with_how_often_the_most_frequent_first():
    results = [
        *(refined(f"d{n}", "The date is missing.") for n in range(3)),
        *(refined(f"o{n}", "Nobody owns the follow-up.") for n in range(2)),
        refined("x", "Seen once only."),
    ]

    assert recurring_reasons(results) == (
        "The date is missing. (3 of 6 refined answers)",
        "Nobody owns the follow-up. (2 of 6 refined answers)",
    )


def test_complaints_in_nearly_the_same_words_are_one_and_the_shortest_stands_for_all():
    results = [
        refined("a", "The due date of ticket 7 is missing."),
        refined("b", "The due date is missing."),
        refined("c", "The due date of invoice 12 is missing here."),
    ]

    assert recurring_reasons(results) == ("The due date is missing. (3 of 3 refined answers)",)


def test_only_what_refinement_resolved_counts():
    worse = {"latest_score": 0.1, "first_score": 0.4}
    same = {"latest_score": 0.4, "first_score": 0.4}
    results = [
        *(refined(f"w{n}", "It got worse.", **worse) for n in range(3)),
        *(refined(f"s{n}", "It stayed.", **same) for n in range(3)),
        *(refined(f"n{n}", "Not refined.", rounds=0) for n in range(3)),
        *(result(f"p{n}", 0.0, reason="plain") for n in range(3)),
    ]

    assert recurring_reasons(results) == ()


def test_repeats_of_one_item_do_not_recur():
    assert recurring_reasons([refined("a", "The date is missing.")] * 3) == ()


def test_the_order_of_results_does_not_matter():
    results = [
        refined(f"{name}{n}", f"{name} is missing.")
        for name in ("zoo", "yak", "xen")
        for n in range(2)
    ]

    assert recurring_reasons(results) == recurring_reasons(results[::-1])


def test_long_reasons_are_shown_in_part_and_only_a_few_of_them():
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "theta"]
    results = [refined(f"{word}{n}", f"{word} " * 400) for word in words for n in range(2)]

    found = recurring_reasons(results)

    assert len(found) == 5
    assert all(len(one) < 350 for one in found)


def test_the_reflection_is_told_and_without_any_there_is_no_word_about_it():
    question = Question(section="system", text="Write.", facts=facts_of(REVIEWS))
    told = replace(question, refined=("No date. (3 of 4 …)",))

    assert "again and again" not in question.prompt()
    assert "right:\n```\n- No date. (3 of 4 …)\n```" in told.prompt()
