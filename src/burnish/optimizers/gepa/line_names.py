"""Names of lines by what they tell, so that two wordings of one rule are one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from burnish.optimizers.gepa.line_edits import LineEdit
from burnish.optimizers.gepa.noise import Subjects
from burnish.optimizers.shared.evidence import Evidence
from burnish.optimizers.shared.failure_matching import words_of

# A word of lines on more subjects belongs to their way of speaking, unless it is an answer.
_SUBJECTS = 4
_LONGEST_ANSWER = 200

Key = tuple[str, str, str]


def names_of(
    edits: Sequence[LineEdit], subjects: Subjects, answers: frozenset[str] = frozenset()
) -> Mapping[Key, str]:
    """Names by the telling words of a line, so that two wordings of one rule are one.

    Words that lines on many subjects share belong to their way of speaking. Words of short answers
    tell all the same: many rules may give one label, and a rule that gives another is another.
    """
    words = {edit.key: words_of(edit.new) for edit in edits if edit.new and not edit.old}
    used: dict[str, set[object]] = {}
    for key, said in words.items():
        about = frozenset(filter(subjects.has, said)) or key
        for word in said:
            used.setdefault(word, set()).add(about)
    found = {}
    for edit in edits:
        telling = sorted(
            word
            for word in words.get(edit.key, ())
            if len(used[word]) <= _SUBJECTS or subjects.has(word) or word in answers
        )
        found[edit.key] = f"{edit.section}: " + (" ".join(telling) or " > ".join(edit.key[1:]))
    return found


def answers_of(evidence: Evidence) -> frozenset[str]:
    """The words of what was answered in trials, where that is a label or a few, not a text."""
    outputs = {
        result.output.text
        for one in evidence.trialed
        for result in one.results.values()
        if result.output is not None and len(result.output.text) <= _LONGEST_ANSWER
    }
    return frozenset(word for output in outputs for word in words_of(output))
