"""Edit of a configuration: named and pure, and the text changes that edits are made of."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum

from burnish.domain import Configuration, placeholders

# The mark of a list, "1." or "12.", ends no sentence.
SENTENCE_END = re.compile(
    r"(?<=[.!?])(?<!^\d\.)(?<!^\d\d\.)(?<!\s\d\.)(?<!\s\d\d\.)[ \t]+(?=[A-Z\"'“(\[{])"
)
_WORD_BREAK = re.compile(r"[_.\-\s]+|(?<=[a-z])(?=[A-Z])")
_BARE = re.compile(
    r"\s*(?:[\w\-/]+(?: (?!this\b|the\b|it\b|following\b)[\w\-/]+)?:\s*)?"
    r"[\"'“”<\[]?\{\{[^{}]+\}\}[\"'“”>\]]?\s*\Z"
)


class Stage(IntEnum):
    """The fixed order in which the edits of a set are applied, whatever order they were chosen in."""

    LINES = 10
    SHORTEN = 20
    SETTINGS = 30
    TASK = 40
    OPTIONS = 45
    DEFINITIONS = 50
    INSTRUCTIONS = 55
    FORMAT = 60
    OPENING = 65
    FRAME = 70
    CUE = 75
    LEAD = 80
    WORDS = 85
    ORDER = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A change with a stable name, `family:kind` or `family:kind:variant`.

    Two edits of one `group` exclude each other. `apply` returns None where the edit changes nothing
    or cannot be made. `promise` is the gain that is expected before anything was measured.
    """

    name: str
    group: str
    stage: Stage
    says: str
    apply: Callable[[Configuration], Configuration | None]
    promise: float = 0.0

    @property
    def family(self) -> str:
        """What comes before the first colon."""
        return self.name.split(":", 1)[0]


def section_edit(
    path: str, change: Callable[[str], str | None]
) -> Callable[[Configuration], Configuration | None]:
    """An `apply` that changes the text of one section."""

    def apply(configuration: Configuration) -> Configuration | None:
        before = configuration.sections[path]
        after = change(before)
        if after is None or after == before:
            return None
        return configuration.with_sections({path: after})

    return apply


def with_parameter(configuration: Configuration, name: str, value: object) -> Configuration:
    """The same configuration with one parameter set."""
    parameters = {**configuration.parameters, name: value}
    return Configuration.of({**configuration.to_json(), "parameters": parameters})


def sentences(line: str) -> list[str]:
    """The sentences of one line."""
    return [one for one in SENTENCE_END.split(line.strip()) if one]


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
