"""Small operations on prompt text: sentences, lines, lists of words, where a task's text ends."""

from __future__ import annotations

import re
from collections.abc import Sequence

from burnish.domain import placeholders

_SENTENCE_END = re.compile(r"(?<=[.!?])[ \t]+(?=[A-Z\"'“(\[{])")
_WORD_BREAK = re.compile(r"[_.\-\s]+|(?<=[a-z])(?=[A-Z])")
_BARE = re.compile(
    r"\s*(?:[\w\-/]+(?: (?!this\b|the\b|it\b|following\b)[\w\-/]+)?:\s*)?"
    r"[\"'“”<\[]?\{\{[^{}]+\}\}[\"'“”>\]]?\s*\Z"
)


def sentences(line: str) -> list[str]:
    """The sentences of one line."""
    return [one for one in _SENTENCE_END.split(line.strip()) if one]


def humanised(name: str) -> str:
    """A column or label name as words: `customer_message` is `customer message`."""
    return " ".join(part.lower() for part in _WORD_BREAK.split(name) if part)


def capitalised(text: str) -> str:
    """With a capital first letter; the rest stays."""
    return text[:1].upper() + text[1:]


def any_of(words: Sequence[str], joiner: str = "or") -> str:
    """`a or b`, `a, b or c`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {joiner} {words[-1]}"


def shows_input_only(line: str) -> bool:
    """Whether a line is a placeholder and at most a short name and quotes around it."""
    return bool(_BARE.match(line))


def split_task(text: str) -> tuple[list[str], list[str]]:
    """The lines that say what to do, and the lines from the first placeholder on."""
    lines = text.split("\n") if text else []
    first = next((i for i, line in enumerate(lines) if placeholders(line)), len(lines))
    task, rest = lines[:first], lines[first:]
    while task and not task[-1].strip():
        rest.insert(0, task.pop())
    return task, rest


def add_to_task(text: str, addition: str, *, inline: bool = False) -> str:
    """The text with a sentence more at the end of what it says to do.

    Where the input comes first, the sentence follows it as a paragraph of its own.
    """
    task, rest = split_task(text)
    if not rest:
        return join_sentences(text, addition, inline=inline)
    if task:
        said = join_sentences("\n".join(task), addition, inline=inline)
        return "\n".join([said, *rest])
    if all(shows_input_only(line) or not line.strip() for line in rest):
        return f"{addition}\n\n{text}"
    return f"{text}\n\n{addition}"


def join_sentences(text: str, addition: str, *, inline: bool) -> str:
    """Two texts one after the other, on one line or two."""
    if not text.strip():
        return addition
    if not inline:
        return f"{text}\n{addition}"
    stop = "" if text.rstrip()[-1] in ".!?:;" else "."
    return f"{text.rstrip()}{stop} {addition}"


def replace_words(text: str, words: dict[str, str]) -> str:
    """Whole words replaced all at once, in any case, but never inside a placeholder."""
    if not words:
        return text
    ordered = sorted(words, key=lambda word: (-len(word), word))
    either = "|".join(re.escape(word) for word in ordered)
    pattern = re.compile(rf"\{{\{{[^{{}}]*\}}\}}|(?<![\w-])(?:{either})(?![\w-])", re.IGNORECASE)
    by_fold = {word.casefold(): word for word in reversed(ordered)}

    def replaced(match: re.Match[str]) -> str:
        found = match.group()
        old = by_fold.get(found.casefold())
        if old is None:
            return found
        starts_sentence = found[:1].isupper() and not old[:1].isupper()
        return capitalised(words[old]) if starts_sentence else words[old]

    return pattern.sub(replaced, text)
