"""Prompts that quote training items, and those that don't."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.domain import Item
from burnish.optimizers.shared.copied_answers import copied_items, without_copies

BASELINE = "Route the ticket to one of: billing, technical, shipping."
TICKETS = [
    "I was charged twice for my subscription this month, please refund one of the payments.",
    "The app crashes whenever I open the settings page on my old tablet.",
    "Where is my parcel? It should have arrived on Tuesday last week.",
    "My invoice shows the wrong company address, can you correct it?",
    "After the update the screen stays black and nothing helps.",
    "The courier left the package with a neighbour whom I don't know.",
]
LABELS = ["billing", "technical", "shipping", "billing", "technical", "shipping"]
ITEMS = [
    Item(id=f"t{place}", data={"ticket": ticket, "label": label, "channel": "email"})
    for place, (ticket, label) in enumerate(zip(TICKETS, LABELS, strict=True))
]


def copied(*lines: str, baseline: str = BASELINE, items=ITEMS) -> list[str]:
    return copied_items("\n".join([BASELINE, *lines]), baseline, items)


@pytest.mark.parametrize(
    "line",
    [
        f"Example: {TICKETS[1]} -> technical",
        f"- “{TICKETS[1].upper()}”",
        "The app crashes whenever I open the settings page on my old phone: technical",
        "the app crashes, whenever i open   the settings-page on my old tablet",
        "Tickets like 'app crashes whenever I open the settings page on my' are technical.",
        "If it says The app crashed whenever I open the setting page on my old tablet, technical.",
    ],
)
def test_a_quoted_input_is_found(line):
    assert copied("Answer with one word.", line) == ["t1"]


def test_a_quote_over_several_lines_is_found():
    assert copied("The app crashes whenever", "I open the settings page", "on my old tablet.") == [
        "t1"
    ]


def test_several_come_in_the_order_of_the_items():
    assert copied(TICKETS[4], TICKETS[0]) == ["t0", "t4"]


@pytest.mark.parametrize(
    "line",
    [
        "Answer with exactly one of billing, technical and shipping, in lower case.",
        "If the customer was charged twice or wants a refund of a payment, answer billing.",
        "When the app crashes or the screen stays dark after an update, answer technical.",
        "Questions such as where a parcel is, or when it should arrive, are shipping.",
        "Read the ticket twice. Please be careful with tickets that name a page or a package.",
        "Tickets that come by email about invoices are billing.",
        "",
    ],
)
def test_general_rules_are_no_copies(line):
    assert copied(line) == []


def test_what_the_baseline_quotes_already_is_no_copy():
    quote = f"Example: {TICKETS[1]} -> technical"

    assert copied(quote, "Be brief.", baseline=f"{BASELINE}\n{quote}") == []


def test_what_many_items_have_in_common_is_no_copy():
    items = [
        Item(
            id=str(n),
            data={"q": f"Please answer the following question about our products: {word}"},
        )
        for n, word in enumerate(
            ["lamps", "chairs", "tables", "carpets", "beds", "shelves", "doors"]
        )
    ]
    rule = "You will be asked: please answer the following question about our products. Be brief."

    assert copied(rule, items=items) == []


SUMS = [Item(id=f"s{n}", data={"input": f"{n}+{n}", "expected": str(2 * n)}) for n in range(10, 15)]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("12+12 is 24.", ["s12"]),
        ("Q: 12+12 A: 24", ["s12"]),
        ("Add numbers such as 12+12 with care.", []),
        ("The answer is often 24.", []),
        ("112+123 = 24", []),
    ],
)
def test_short_inputs_need_their_answer_in_the_same_line(line, found):
    assert copied(line, items=SUMS) == found


def test_numbers_and_nested_fields_are_read_too():
    items = [
        Item(id="n", data={"input": {"a": 1234}, "answer": 99}),
        Item(id="l", data={"turns": [{"text": TICKETS[2]}], "answer": "shipping"}),
    ]

    assert copied("1234 gives 99", f"{TICKETS[2]}: shipping", items=items) == ["n", "l"]


def test_a_value_of_several_items_is_no_input():
    items = [
        Item(id=str(n), data={"word": "great movie", "label": "positive", "n": n}) for n in range(3)
    ]

    assert copied("A great movie is positive.", items=items) == []


def test_scripts_without_spaces_are_read_by_character():
    items = [
        Item(
            id="zh",
            data={"text": "这个应用程序每次打开设置页面都会崩溃请帮助我解决问题", "label": "技术"},
        )
    ]

    assert copied("例如：这个应用程序每次打开设置页面都会崩溃请帮助我", items=items) == ["zh"]
    assert copied("应用程序的问题属于技术。", items=items) == []


def test_lines_that_quote_are_taken_out():
    text = "\n".join([BASELINE, "Be brief.", f"Example: {TICKETS[1]} -> technical", "Be kind."])

    assert without_copies(text, BASELINE, ITEMS) == f"{BASELINE}\nBe brief.\nBe kind."
    assert without_copies(BASELINE, BASELINE, ITEMS) == BASELINE
    assert without_copies("\n".join(TICKETS[1].split()), BASELINE, ITEMS) is None


@settings(max_examples=60, deadline=None)
@given(text=st.text(), baseline=st.text(), value=st.text())
def test_any_text_is_read(text, baseline, value):
    assert copied_items(text, baseline, [Item(id="x", data={"a": value, "label": text})]) in (
        [],
        ["x"],
    )


def test_500_items_in_a_long_prompt_take_no_time():
    chance = random.Random("words")
    vocabulary = [f"word{n}" for n in range(120)]
    items = [
        Item(id=str(n), data={"text": " ".join(chance.choices(vocabulary, k=25)), "label": "a"})
        for n in range(500)
    ]
    text = "\n".join(" ".join(chance.choices(vocabulary, k=14)) for _ in range(32))
    text += "\n" + items[7].data["text"]
    assert len(text) > 2_900

    times = []
    for _ in range(5):
        started = time.thread_time()
        assert copied_items(text, BASELINE, items) == ["7"]
        times.append(time.thread_time() - started)

    # A quiet machine takes a fifth of this; caches may be others'.
    assert min(times) < 0.05
