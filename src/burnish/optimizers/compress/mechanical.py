"""Compression without a model: filler, repetition, examples and white space go."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from rapidfuzz import fuzz

from burnish.domain import Configuration, placeholders
from burnish.optimizers.compress.edits import (
    DEFAULT_MIN_TOKENS,
    SectionEdit,
    largest_first,
    worthwhile,
)
from burnish.optimizers.compress.phrases import shortened
from burnish.optimizers.compress.units import split_units
from burnish.optimizers.compress.written_examples import example_spans
from burnish.optimizers.edits.operators.texts import sentences
from burnish.optimizers.gepa.line_edits import key_of

_FENCE = re.compile(r"^\s*(?:```|~~~)")
_QUOTED = re.compile(r"[\"“`{<\[|]")
_ALIKE = 88.0
_REPEATED = 72.0
_SHORTEST = 12
_EXAMPLE = re.compile(
    r"^\W*(?:for (?:example|instance)\b|e\.g\.|such as\b|examples?\s*(?:\d+)?\s*[:.)-]|"
    r"consider (?:this|the following) example)",
    re.IGNORECASE,
)
_CHATTER = re.compile(
    r"^\W*(?:thank|thanks|good luck|take (?:a deep breath|your time)|we (?:really )?appreciate|"
    r"hello|hi\b|welcome|i hope|your help is|you are (?:doing )?(?:a )?(?:great|wonderful)|"
    r"once again|as always|remember[,:]? (?:you|we)|have fun)",
    re.IGNORECASE,
)
_DIRECTIVE = re.compile(
    r"\b(?:must|always|never|only|do not|don't|answer|reply|respond|return|output|write|give|"
    r"classify|choose|pick|select|label|format|exactly|if|when|unless|use|json)\b",
    re.IGNORECASE,
)


class MechanicalCompressStrategy:
    """Three strengths: `tidy` rewords, `lean` drops what repeats or only illustrates, `core` keeps
    the first sentence and what commands."""

    name = "mechanical"

    def __init__(self, *, min_section_tokens: int = DEFAULT_MIN_TOKENS) -> None:
        self.min_section_tokens = min_section_tokens

    async def propose(
        self, configuration: Configuration, paths: Sequence[str]
    ) -> Sequence[SectionEdit]:
        """Edits of these sections."""
        found: list[SectionEdit] = []
        for path, text in largest_first(configuration, paths, self.min_section_tokens):
            levels = [("tidy", tidy(text)), ("lean", lean(text)), ("core", core(text))]
            found += worthwhile(path, text, levels, strategy=self.name)
        return found


def tidy(text: str) -> str:
    """The same lines, shorter: filler, long phrases, white space and lines said twice go."""
    lines: list[str] = []
    seen: set[str] = set()
    fenced = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        if fenced or _FENCE.match(line):
            lines.append(line)
            continue
        short = line.rstrip() if _QUOTED.search(line) else shortened(line.rstrip())
        key = key_of(short)
        if len(key) >= _SHORTEST and key in seen and not placeholders(line):
            continue
        seen.add(key)
        if short.strip() or (lines and lines[-1].strip()):
            lines.append(short)
    return "\n".join(lines).strip("\n")


def lean(text: str) -> str:
    """`tidy`, without sentences that repeat others, illustrate or only make conversation."""
    said: list[str] = []

    def keep(sentence: str) -> bool:
        if placeholders(sentence):
            return True
        key = key_of(sentence)
        if _EXAMPLE.match(sentence) or _CHATTER.match(sentence):
            return False
        repeats = len(key) >= _SHORTEST and any(_says_the_same(key, other) for other in said)
        said.append(key)
        return not repeats

    return _filtered(without_examples(tidy(text)), keep)


def without_examples(text: str) -> str:
    """Without the examples that are written in it; one that holds a placeholder stays."""
    units = split_units(text)
    left = [unit for unit in units if not _is_example(unit.text)]
    return "".join(unit.text + unit.tail for unit in left).rstrip()


def _is_example(unit: str) -> bool:
    lines = unit.splitlines()
    return example_spans(lines) == [(0, len(lines))] and not placeholders(unit)


def core(text: str) -> str:
    """`lean`, with only the first sentence and those that command something."""
    first = True

    def keep(sentence: str) -> bool:
        nonlocal first
        wanted = first or bool(placeholders(sentence)) or bool(_DIRECTIVE.search(sentence))
        first = False
        return wanted

    return _filtered(lean(text), keep)


def _says_the_same(one: str, other: str) -> bool:
    return fuzz.ratio(one, other) >= _ALIKE or (
        fuzz.token_set_ratio(one, other) >= _ALIKE and fuzz.ratio(one, other) >= _REPEATED
    )


def _filtered(text: str, keep: Callable[[str], bool]) -> str:
    """The text with only those sentences; what stands in fences stays as it is."""
    lines: list[str] = []
    fenced = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
            lines.append(line)
        elif fenced or not line.strip():
            lines.append(line)
        else:
            kept = [one for one in sentences(line) if keep(one)]
            if kept:
                indent = line[: len(line) - len(line.lstrip())]
                lines.append(indent + " ".join(one.strip() for one in kept))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")
