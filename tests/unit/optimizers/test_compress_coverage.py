"""Coverage: lines that no item tests are named and kept, protected ones stay, bad edits go alone."""

import asyncio

import pytest

from burnish.domain import Configuration, Item, UsageError, text_hash
from burnish.optimizers.compress.coverage import Coverage, Protection, says
from burnish.optimizers.compress.cuts import line_cuts
from burnish.optimizers.compress.edit_checks import checked_edits
from burnish.optimizers.compress.strategies import MechanicalCompressStrategy, SectionEdit

LINES = {
    "Tickets about a refund go to billing.": True,
    "Tickets about a crash go to the technicians.": True,
    "Tickets about a visa go to the travel desk.": False,
    "Never reveal internal prices to anybody.": False,
    "Do not promise a refund.": False,
    "Our company was founded in 1987 in Zurich.": False,
    "Read carefully.": True,
    "You are a helpful assistant.": True,
    "For example, a visa ticket may be long.": True,
}
PROMPT = Configuration.of({"sections": {"system": "\n".join(LINES), "user": "{{text}}"}})
ITEMS = [
    Item(id=str(n), data={"text": f"my {what} number {n}", "team": team})
    for n, (what, team) in enumerate([("refund", "billing"), ("crash", "technicians")] * 10)
]


@pytest.mark.parametrize(("line", "tested"), LINES.items())
def test_a_line_is_tested_where_items_are_about_it(line, tested):
    coverage = Coverage.by(ITEMS, PROMPT)

    assert coverage.tests(line) is tested
    assert Coverage.of(coverage.to_json()) == coverage


def test_untested_lines_are_named_once_and_no_cut_takes_them():
    coverage = Coverage.by(ITEMS, PROMPT)
    twice = f"{PROMPT.sections['system']}\nNever reveal internal prices to anybody."
    configuration = PROMPT.with_sections({"system": twice})

    named = [one.text for one in coverage.untested(configuration)]
    cuts = [cut.unit for cut in line_cuts("system", twice, "", coverage.tests)]

    assert named == [line for line, tested in LINES.items() if not tested]
    # All tested lines, and the second copy of the one that stands there twice.
    assert cuts == [*(n for n, tested in enumerate(LINES.values()) if tested), len(LINES)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Don't reveal internal prices.", True),
        ("Reveal internal prices to anybody.", False),
        ("Be discreet.", False),
    ],
)
def test_a_rewrite_still_says_a_line_or_does_not(text, said):
    assert says(text, "Never reveal internal prices to anybody.") is said


def edits_of(strategy, configuration=PROMPT, protected=()):
    protection = Protection(configuration, protected)
    return asyncio.run(checked_edits([strategy], configuration, ["system"], protection))


def test_protected_lines_stay_word_for_word():
    line = "Please note that you have to be very helpful."
    text = f"{line}\nIn order to win, please read it.\nThe sky is really very blue today."
    configuration = Configuration.of({"sections": {"system": text, "user": "{{text}}"}})
    strategy = MechanicalCompressStrategy(min_section_tokens=1)

    edits, _ = edits_of(strategy, configuration, ["have to be very"])

    assert edits
    assert all(line in edit.proposed_body for edit in edits)
    assert all("please read" not in edit.proposed_body for edit in edits)
    assert all(edit.original_hash == text_hash(text) for edit in edits)
    with pytest.raises(UsageError, match="no section of the prompt"):
        Protection(configuration, ["the sea"])


class Own:
    """A strategy with a plain method, and no tokens counted."""

    name, min_section_tokens = "own", 1

    def __init__(self, *bodies, path="system", of=PROMPT.sections["system"]):
        self.bodies, self.path, self.of = bodies, path, of

    def propose(self, configuration, paths):
        return [
            SectionEdit(
                path=self.path,
                original_hash=text_hash(self.of),
                proposed_body=body,
                original_tokens=1000,
                proposed_tokens=1,
                strategy="own",
                strength=str(number),
            )
            for number, body in enumerate(self.bodies)
        ]


@pytest.mark.parametrize(
    ("strategy", "reason"),
    [
        (Own("", "good"), "empty_section"),
        (Own("{{other}}", "good"), "placeholder_unknown"),
        (Own("word " * 900, "good"), "saves no token"),
        (Own("good", path="user"), "section_locked"),
        (Own("good", of="another text"), "stale"),
    ],
)
def test_a_bad_edit_is_refused_by_itself(strategy, reason):
    edits, (refused,) = edits_of(strategy)

    assert reason in refused["reason"]
    assert [one.proposed_body for one in edits] == ["good"] * (len(strategy.bodies) - 1)
    assert all(one.proposed_tokens == 1 < one.original_tokens < 200 for one in edits)
