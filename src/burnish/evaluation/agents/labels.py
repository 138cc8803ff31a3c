"""Reading one of the declared labels out of a model's answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from burnish.domain import Json, UsageError

_EDGES = " \t\r\n.,;:!?\"'`*()[]{}<>"


def label_words(labels: Sequence[str], parameters: Mapping[str, Json]) -> dict[str, str]:
    """The word the model says for each label: the label itself, or what `label_words` maps it to."""
    chosen = parameters.get("label_words") or {}
    if not isinstance(chosen, Mapping):
        raise _invalid(f"it is a {type(chosen).__name__}, not an object of label to word")
    unknown = [label for label in chosen if label not in labels]
    if unknown:
        raise _invalid(f"{unknown[0]!r} is not one of the labels {', '.join(labels)}")
    words = {label: str(chosen.get(label, label)) for label in labels}
    if len(set(words.values())) < len(words) or not all(words.values()):
        raise _invalid("two labels share a word, or a word is empty")
    return words


def read_label(text: str, words: Mapping[str, str]) -> str | None:
    """The label whose word the answer is, or holds as the only one; None when that is unclear."""
    answer = text.strip(_EDGES).casefold()
    for label, word in words.items():
        if answer == word.casefold():
            return label
    found = [
        label
        for label, word in words.items()
        if re.search(rf"(?<!\w){re.escape(word.casefold())}(?!\w)", answer)
    ]
    return found[0] if len(found) == 1 else None


def _invalid(why: str) -> UsageError:
    return UsageError(
        what="the parameter label_words cannot be used",
        why=why,
        fix='write one distinct word a label, such as {"positive": "good", "negative": "bad"}',
        code="parameter_out_of_range",
    )
