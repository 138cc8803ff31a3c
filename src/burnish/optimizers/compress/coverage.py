"""Coverage of a prompt's lines by the items: lines that no item tests, and lines that are protected.

A line is tested when most of the words that are its own stand in items: a rule about visas is not,
where no item is about one. Lines that forbid something are never tested: items that pass do not try.
Lines of nothing but common words, such as "Read carefully.", are about every item.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from burnish.domain import Configuration, Item, UsageError, placeholders
from burnish.optimizers.compress.units import is_illustration, split_units
from burnish.optimizers.shared.line_edits import key_of

_WORD = re.compile(r"[^\W\d_]{3,}|\d+")
_ENDINGS = ("ies", "ing", "es", "ed", "s", "e", "y")
_FORBIDS = re.compile(
    r"\b(?:never|not|cannot|avoid|refuse|forbidden|nobody|no one|under no)\b|n't\b", re.IGNORECASE
)
# Words that stand in any prompt and say nothing of what it is about.
_WORDS_OF_ANY_PROMPT = """
never not cannot avoid refuse anybody anyone nobody somebody someone none
about above absolute according after again all also always and another answer any appreciate
are around ask assist assistant attention aware based been before being below best between
both but can care careful carefully case clear clearly come consider correct correctly could
description detail did does doing done down each effort either else ensure etc even every
everything exact exactly example expert few find first follow following for form format found
friendly from full general get give given goal going good great guideline had hard has have
having help helpful her here high him his how however important information input inside
instruction into its itself job just keep kind kindly know last least less let like list long
luck made main make many matter may mean mind more most much must name need needed new next
nice note now off offer once one only onto order other others our out over own part please
polite possible precise professional prompt proper properly provide provided put quality
question rather read really reason regard relevant remember reply request required respond
response result right role rule said same say section see select several shall short should
show similar simple simply since some something statement step still such sure take task tell
text than thank thanks that the their them then there these they thing think this thoroughly
those through thus time together too toward try two type under understand until upon use used
user using various very via want was way welcome well were what when whenever where whether
which while who whole whom whose why will with within without word work would write written
you your yourself
"""
_COMMON = frozenset(_WORDS_OF_ANY_PROMPT.split())
_KEPT_SHARE = 2 / 3


@dataclass(frozen=True, slots=True, kw_only=True)
class UntestedLine:
    """A line that no item tests, and whether the result still says it."""

    section_path: str
    text: str
    kept: bool = True

    def to_json(self) -> dict[str, Any]:
        """The JSON form that `of` reads."""
        return {"section_path": self.section_path, "text": self.text, "kept": self.kept}

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> UntestedLine:
        """From its JSON form."""
        return cls(**value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What the items are about, by word, as far as the prompt has these words.

    `common` are words of most items, or of many lines: they tell no line from another.
    """

    words: frozenset[str] = frozenset()
    common: frozenset[str] = frozenset()

    @classmethod
    def by(cls, items: Sequence[Item], baseline: Configuration) -> Coverage:
        """From the items of the gate."""
        lines = [
            words_of(unit.text) for text in baseline.sections.values() for unit in split_units(text)
        ]
        prompt: set[str] = set().union(*lines) if lines else set()
        counted = Counter(word for one in items for word in words_of(_texts(one.data)) & prompt)
        spread = Counter(word for words in lines for word in words)
        common = {word for word, number in counted.items() if 2 * number > len(items)}
        common |= {word for word, number in spread.items() if number > max(2, len(lines) // 4)}
        return cls(words=frozenset(counted), common=frozenset(common))

    def to_json(self) -> dict[str, list[str]]:
        """For an optimizer's state."""
        return {"words": sorted(self.words), "common": sorted(self.common)}

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Coverage:
        """From its JSON form."""
        return cls(words=frozenset(value["words"]), common=frozenset(value["common"]))

    def tests(self, line: str) -> bool:
        """Whether some item tests a line."""
        if is_illustration(line):
            return True
        own = words_of(line) - self.common
        if _FORBIDS.search(line):
            return False
        return not own or 2 * len(own & self.words) >= len(own)

    def untested(self, configuration: Configuration) -> Iterator[UntestedLine]:
        """The lines of all sections that no item tests; those with placeholders stay in any case."""
        for path, text in configuration.sections.items():
            seen: set[str] = set()
            for unit in split_units(text):
                line = unit.text.strip()
                if line and key_of(line) not in seen and not placeholders(line):
                    if not self.tests(line):
                        yield UntestedLine(section_path=path, text=line)
                    seen.add(key_of(line))


def says(text: str, line: str) -> bool:
    """Whether a text still says a line, in these words or nearly so."""
    own = words_of(line)
    kept = len(own & words_of(text))
    return kept >= _KEPT_SHARE * len(own) and (
        _FORBIDS.search(line) is None or _FORBIDS.search(text) is not None
    )


def words_of(text: str) -> frozenset[str]:
    """The stems of the words that say what a text is about."""
    return frozenset(
        _stem(word) for word in map(str.lower, _WORD.findall(text)) if word not in _COMMON
    )


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def _texts(value: object) -> str:
    if isinstance(value, Mapping):
        return " ".join(map(_texts, value.values()))
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " ".join(map(_texts, value))
    return str(value)


# --- protected lines --------------------------------------------------------------------------


class Protection:
    """Lines that stay as they are, each named by some words of it.

    Strategies see placeholders in their place, which every edit keeps.
    """

    def __init__(self, baseline: Configuration, protected: Iterable[str]) -> None:
        units = [unit.text for text in baseline.sections.values() for unit in split_units(text)]
        self._lines: list[str] = []
        for words in protected:
            found = [line for line in units if words.strip() and words.strip() in line]
            if not found:
                raise UsageError(
                    what=f"the line with {words!r} cannot be protected",
                    why="no section of the prompt has it in one line",
                    fix="give some words of the line, exactly as they stand in the prompt",
                    code="unknown_line",
                )
            self._lines += [line for line in found if line not in self._lines]

    def covers(self, line: str) -> bool:
        """Whether a line is protected."""
        return any(one in line for one in self._lines)

    def hide(self, configuration: Configuration) -> Configuration:
        """The configuration with a placeholder for each protected line."""
        sections = {}
        for path, text in configuration.sections.items():
            for number, line in enumerate(self._lines):
                text = text.replace(line, _hidden(number))  # noqa: PLW2901 - one after the other
            sections[path] = text
        return configuration.with_sections(sections)

    def show(self, text: str) -> str:
        """A text with the lines in their places again."""
        for number, line in enumerate(self._lines):
            text = text.replace(_hidden(number), line)
        return text


def _hidden(number: int) -> str:
    return f"{{{{kept_line_{number}}}}}"
