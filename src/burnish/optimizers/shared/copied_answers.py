"""A guard: training items whose input a prompt quotes, which is learning by heart.

An input counts as quoted when its own words stand in the text in their order, either most of them or a
long run; with a word changed here and there too. What the baseline's text says already is nobody's
copy, and neither is what many items have in common. Answers are never looked for by themselves: rules
must name labels.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import groupby

from rapidfuzz import fuzz

from burnish.domain import Item, Json

_ANSWER_FIELD = re.compile(
    r"(?:^|_)(?:expected|answers?|labels?|outputs?|targets?|gold|solution|completion|response"
    r"|category|class)(?:_|$)",
    re.IGNORECASE,
)
# Scripts without spaces between words count by character.
_WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
)
_RUN_OF = 3
_SHORT_CHARS = 20
_LEAST_SHORT_CHARS = 3
_LEAST_WORDS = 4
# Quoted: this share of an input's words stands in runs of three, or one run is as long as this.
_QUOTED_SHARE = 0.75
_LONG_RUN_WORDS = 10
# Nearly quoted: this share of its words in one line, and that alike.
_SHARED_WORDS = 0.7
_ALIKE = 88.0
# Phrases of more items than this share are the task's own.
_COMMON_SHARE = 0.2

_Run = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    words: frozenset[str]


def is_answer_field(name: str) -> bool:
    """Whether a field of an item holds its answer, by its name."""
    return bool(_ANSWER_FIELD.search(name))


def copied_items(text: str, baseline_text: str, items: Sequence[Item]) -> list[str]:
    """Ids of the items whose input is quoted in `text` and not already in `baseline_text`."""
    page = _Page(text, baseline_text)
    long: list[tuple[str, list[str]]] = []
    short: list[tuple[Item, str]] = []
    for item in items:
        inputs = [one for name, one in _strings(item.data) if not _ANSWER_FIELD.search(name)]
        lengthy = [words for one in inputs if (words := _long_words(one)) is not None]
        long += [(item.id, words) for words in lengthy]
        if not lengthy:
            short += [(item, one) for one in inputs]
    found = _quoted(page, long, len(items)) | _quoted_with_answer(page, short)
    return [item.id for item in items if item.id in found]


def without_copies(text: str, baseline_text: str, items: Sequence[Item]) -> str | None:
    """The text without the lines that quote an item; None when a quote is left."""
    found = frozenset(copied_items(text, baseline_text, items))
    if not found:
        return text
    quoted = [item for item in items if item.id in found]
    lines = [one for one in text.split("\n") if not copied_items(one, baseline_text, quoted)]
    kept = "\n".join(lines).strip("\n")
    return None if copied_items(kept, baseline_text, quoted) else kept


class _Page:
    """What a text says that the baseline does not."""

    def __init__(self, text: str, baseline_text: str) -> None:
        known = {_flat(line) for line in baseline_text.split("\n")}
        fresh = [line for line in text.split("\n") if _flat(line) not in known]
        words = [_words(line) for line in fresh]
        joined = [word for line in words for word in line]
        self.runs = frozenset(_runs(joined)) - frozenset(_runs(_words(baseline_text)))
        self.words = frozenset(joined)
        self.lines = [_Line(" ".join(one), frozenset(one)) for one in words if one]
        self.flat_lines = [_flat(line) for line in fresh]


def _quoted(page: _Page, inputs: Sequence[tuple[str, list[str]]], items: int) -> set[str]:
    """Items with a longer input that the page quotes."""
    hits = [page.runs.intersection(_runs(words)) for _, words in inputs]
    seen = Counter(run for one in hits for run in one)
    most = max(2.0, _COMMON_SHARE * items)
    common = {run for run, times in seen.items() if times > most}
    found: set[str] = set()
    for (item_id, words), hit in zip(inputs, hits, strict=True):
        if item_id not in found and (
            _stands_in_runs(words, hit, common) or (hit and _is_alike(page, words, common))
        ):
            found.add(item_id)
    return found


def _stands_in_runs(words: list[str], hit: Set[_Run], common: Set[_Run]) -> bool:
    """Whether most of an input's own words stand on the page, or a long run of them."""
    own, shared = [False] * len(words), [False] * len(words)
    for place, run in enumerate(_runs(words)):
        marked = shared if run in common else own if run in hit else None
        if marked is not None:
            marked[place : place + _RUN_OF] = [True] * _RUN_OF
    quoted = sum(own)
    theirs = sum(one and not mine for one, mine in zip(shared, own, strict=True))
    longest = max((len(list(run)) for mine, run in groupby(own) if mine), default=0)
    return quoted >= _LEAST_WORDS and (
        quoted >= _QUOTED_SHARE * (len(words) - theirs) or longest >= _LONG_RUN_WORDS
    )


def _is_alike(page: _Page, words: list[str], common: Set[_Run]) -> bool:
    """Whether a line says nearly the same; only for inputs with words of their own."""
    own = frozenset(words)
    needed = _SHARED_WORDS * len(own)
    if len(own & page.words) < needed or any(run in common for run in _runs(words)):
        return False
    return any(
        len(own & line.words) >= needed
        and fuzz.partial_ratio(" ".join(words), line.text, score_cutoff=_ALIKE) >= _ALIKE
        for line in page.lines
        if len(line.words) >= needed
    )


def _quoted_with_answer(page: _Page, inputs: Sequence[tuple[Item, str]]) -> set[str]:
    """Items whose short input stands in one line with its answer; values of several items don't."""
    times = Counter(_flat(text) for _, text in inputs)
    found: set[str] = set()
    for item, text in inputs:
        flat = _flat(text)
        if len(flat) < _LEAST_SHORT_CHARS or times[flat] > 1:
            continue
        lines = [line for line in page.flat_lines if flat in line]
        if not lines:
            continue
        answers = [_flat(one) for name, one in _strings(item.data) if _ANSWER_FIELD.search(name)]
        rests = [rest for line in lines if (rest := _without(line, flat)) is not None]
        if any(one and _without(rest, one) is not None for rest in rests for one in answers):
            found.add(item.id)
    return found


def _strings(data: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """Texts and numbers by field, those inside of lists and objects under the outer name."""
    for name, value in data.items():
        if isinstance(value, str):
            yield name, value
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield name, str(value)
        elif isinstance(value, Mapping):
            yield from ((f"{name}_{inner}", text) for inner, text in _strings(value))
        elif isinstance(value, list):
            yield from ((name, text) for one in value for _, text in _strings({name: one}))


def _long_words(text: str) -> list[str] | None:
    words = _words(text)
    is_long = len(words) >= _LEAST_WORDS and sum(map(len, words)) + len(words) > _SHORT_CHARS
    return words if is_long else None


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _runs(words: list[str]) -> Iterator[_Run]:
    return zip(words, words[1:], words[2:], strict=False)


def _flat(text: str) -> str:
    return " ".join(text.casefold().split())


def _without(line: str, part: str) -> str | None:
    """The line without a part that stands in it as words of its own; None where it does not."""
    found = re.search(rf"(?<!\w){re.escape(part)}(?!\w)", line)
    return None if found is None else line[: found.start()] + " " + line[found.end() :]
