"""What earlier edits teach `gepa`: what earns something, what was in vain, and where lines work."""

from __future__ import annotations

from known import evidence_of, known

from burnish.optimizers.gepa.edit_history import EditHistory
from burnish.optimizers.shared.line_edits import LineEdit, key_of
from burnish.optimizers.gepa.moves import Kind

ROOT = "Route the ticket."
GOOD, BAD, DULL = "Parcels go to shipping.", "Write a poem.", "Be kind."


def tried(number: int, line: str, *, parent: int = 0, on: str = ROOT, kind=Kind.LINE, **scores):
    return known(number, scores, parents=(parent,), text=f"{on}\n{line}", kind=kind)


def history_of(*children) -> EditHistory:
    root = known(0, {"t1": 0.0, "t2": 1.0, "t3": 0.0, "v1": 0.5}, text=ROOT, trial=0.5)
    return EditHistory(evidence_of(root, *children))


def added(line: str) -> LineEdit:
    return LineEdit("system", "", line, key_of(ROOT))


def test_lines_that_mended_something_earn_and_others_do_not():
    found = history_of(
        tried(1, GOOD, t1=1.0, t3=1.0), tried(2, BAD, t2=0.0), tried(3, DULL, t1=0.0)
    ).earning([added(GOOD), added(BAD), added(DULL), LineEdit("system", ROOT, "")])

    assert found == {("system", key_of(GOOD))}


def test_a_line_that_mended_nothing_under_two_parents_is_rejected():
    first = tried(1, DULL, t1=0.0)
    other = tried(2, GOOD, t1=1.0, t3=0.0)
    again = tried(3, DULL, parent=2, on=f"{ROOT}\n{GOOD}", t3=0.0)

    assert not history_of(first).is_rejected(added(DULL))
    assert history_of(first, other, again).is_rejected(added(DULL))
    assert not history_of(first, other, again).is_rejected(added(GOOD))


def test_useless_lines_are_told_and_those_of_other_sections_are_not():
    taught = history_of(tried(1, DULL, t1=0.0), tried(2, GOOD, t1=1.0))

    assert taught.hints("system", ROOT)[1] == (f"added “{DULL}”",)
    assert taught.hints("user", ROOT)[1] == ()


def test_only_lines_that_were_tried_alone_are_told():
    assert history_of(tried(1, DULL, kind=Kind.JOIN, t1=0.0)).hints("system", ROOT)[1] == ()


def test_how_often_a_section_was_worth_it():
    taught = history_of(tried(1, DULL, t1=0.0), tried(2, GOOD, t1=1.0), tried(3, BAD, t2=0.0))

    assert taught.wins_and_losses("system") == (1, 2)
    assert taught.wins_and_losses("user") == (0, 0)


def test_lines_that_helped_elsewhere_are_told_with_their_estimated_effect():
    taught = history_of(tried(1, GOOD, t1=1.0, t3=1.0), tried(2, BAD, t2=0.0))

    helped, _ = taught.hints("system", ROOT)

    assert len(helped) == 1
    assert helped[0].startswith(f"added “{GOOD}” (estimated effect on the score: +0.")
    assert taught.hints("system", f"{ROOT}\n- {GOOD}")[0] == ()
    assert taught.hints("user", ROOT)[0] == ()
