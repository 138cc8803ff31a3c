"""Edits of the answer: label words, the line on its format, definitions and instructions."""

from __future__ import annotations

import re
from collections.abc import Mapping

from burnish.domain import Configuration
from burnish.optimizers.edits.edit import (
    Edit,
    Stage,
    add_to_task,
    any_of,
    capitalised,
    humanised,
    replace_words,
    section_edit,
    with_parameter,
)
from burnish.optimizers.edits.lexicon import meaning, synonyms
from burnish.optimizers.edits.subject import Subject

_FOR_LABELS = {
    "overall": "Judge the {noun} as a whole, not single words.",
    "negation": "Mind words such as not and but, and irony.",
    "unsure": "If you are unsure, choose what fits best.",
    "every_label": "Every choice is equally likely.",
}
_FOR_TEXT = {
    "steps": "Think step by step before you answer.",
    "given": "Use only what is given in the {noun}.",
    "unsure": "If you are unsure, give the most likely answer.",
    "check": "Check your answer before you give it.",
    "no_extra": "Add nothing that was not asked for.",
    "exact": "Copy names, numbers and dates exactly.",
    "plain": "Use plain and simple words.",
    "all_parts": "Deal with every part of the {noun}.",
}
_LETTERS = "ABCDEFGHIJ"
_TELLING = 3


def label_word_edits(subject: Subject) -> list[Edit]:
    """Other words, each used wherever the text names the old ones, and other orders."""
    if len(subject.words) < 2:
        return []
    return [*_cases(subject), *_synonyms(subject), *_stand_ins(subject), *_orders(subject)]


def _cases(subject: Subject) -> list[Edit]:
    cases = {
        "lower": {label: word.lower() for label, word in subject.words.items()},
        "title": {label: word[:1].upper() + word[1:] for label, word in subject.words.items()},
        "upper": {label: word.upper() for label, word in subject.words.items()},
        "spaced": {label: humanised(word) for label, word in subject.words.items()},
    }
    return [
        _words(subject, f"words:case:{kind}", words, promise=0.01 if kind == "title" else 0.0)
        for kind, words in cases.items()
        if _usable(words, subject) and (kind != "spaced" or words != cases["lower"])
    ]


def _synonyms(subject: Subject) -> list[Edit]:
    return [
        _words(subject, f"words:synonym:{'_'.join(words.values()).replace(' ', '_')}", words)
        for words in synonyms(subject.labels)
        if _usable(words, subject)
    ]


def _stand_ins(subject: Subject) -> list[Edit]:
    """Words that say nothing by themselves, so the task says what they stand for."""
    old = subject.words
    found = []
    if len(old) == 2 and not {"yes", "no"} & {word.lower() for word in old.values()}:
        first, second = old
        words = {first: "yes", second: "no"}
        line = f"Say yes if it is {old[first]} and no if it is {old[second]}."
        found.append(_words(subject, "words:yes_no", words, line=line))
    if len(old) <= len(_LETTERS):
        words = dict(zip(old, _LETTERS, strict=False))
        line = "\n".join(f"{words[label]}: {old[label]}" for label in old)
        found.append(_words(subject, "words:letters", words, line=line))
    return [one for one in found if subject.task_path is not None]


def _usable(words: Mapping[str, str], subject: Subject) -> bool:
    folded = {word.casefold() for word in words.values()}
    return words != subject.words and len(folded) == len(words) and all(words.values())


def _words(
    subject: Subject,
    name: str,
    words: Mapping[str, str],
    *,
    line: str | None = None,
    promise: float = 0.0,
) -> Edit:
    old = subject.words
    renamed = {old[label]: words[label] for label in old if old[label] != words[label]}
    # A short word such as "a" is also just a word: it is replaced in lists of labels only.
    everywhere = {word: new for word, new in renamed.items() if len(word) >= _TELLING}
    listed = _listing_pattern(list(old.values()))

    def apply(configuration: Configuration) -> Configuration | None:
        changes = {}
        for path in subject.free_paths():
            text = configuration.sections[path]
            if line is None:
                text = listed.sub(lambda found: replace_words(found.group(), renamed), text)
                text = replace_words(text, everywhere)
            else:
                text = listed.sub(any_of(list(words.values())), text)
                text = add_to_task(text, line) if path == subject.task_path else text
            if text != configuration.sections[path]:
                changes[path] = text
        changed = configuration.with_sections(changes) if changes else configuration
        return with_parameter(changed, "label_words", dict(words))

    return Edit(
        name=name,
        group="words",
        stage=Stage.WORDS,
        says=f"let it answer {any_of(list(words.values()))}",
        apply=apply,
        promise=promise,
    )


def _orders(subject: Subject) -> list[Edit]:
    """Lists of all labels in the text, turned round."""
    if not subject.free_paths():
        return []

    def apply(configuration: Configuration) -> Configuration | None:
        given = configuration.parameters.get("label_words")
        words = {**subject.words, **given} if isinstance(given, Mapping) else dict(subject.words)
        every = [str(word) for word in words.values()]
        pattern = _listing_pattern(every)
        changes = {}
        for path in subject.free_paths():
            text = configuration.sections[path]
            turned = pattern.sub(_turned, text)
            if turned != text:
                changes[path] = turned
        return configuration.with_sections(changes) if changes else None

    return [
        Edit(
            name="order:reversed",
            group="order",
            stage=Stage.ORDER,
            says="list the labels the other way round",
            apply=apply,
        )
    ]


def _listing_pattern(words: list[str]) -> re.Pattern[str]:
    """All the words once each, parted by commas, slashes, or and and."""
    word = "|".join(re.escape(one) for one in sorted(words, key=lambda one: (-len(one), one)))
    between = r"(?:,? (?:or|and) |, ?| ?/ ?)"
    return re.compile(
        rf"(?<![\w-])(?:{word})(?:{between}(?:{word})){{{len(words) - 1}}}(?![\w-])", re.IGNORECASE
    )


def _turned(match: re.Match[str]) -> str:
    parts = re.split(r"(,? (?:or|and) |, ?| ?/ ?)", match.group())
    return "".join(
        [*reversed(parts[0::2])][i // 2] if i % 2 == 0 else parts[i] for i in range(len(parts))
    )


def format_edits(subject: Subject) -> list[Edit]:
    """One format line at a time, at the end of the task."""
    if subject.task_path is None:
        return []
    lines = _for_labels(subject) if subject.words else _for_text()
    return [_line(subject, kind, line, promise) for kind, (line, promise) in lines.items()]


def _for_labels(subject: Subject) -> dict[str, tuple[str, float]]:
    listing = subject.listing
    one = "one word" if subject.single_words else "one label"
    return {
        "one_word": (f"Answer with {one}.", 0.03),
        "one_of": (f"Answer with {one}: {listing}.", 0.02),
        "only": (f"Answer only {listing}.", 0.01),
        "reply_exactly": (f"Reply with exactly {one}: {listing}.", 0.0),
        "nothing_else": (f"Say {listing} and nothing else.", 0.0),
        "possible": (f"Possible answers: {listing}.", 0.0),
    }


def _for_text() -> dict[str, tuple[str, float]]:
    return {
        "answer_only": ("Give only the answer, without any explanation.", 0.02),
        "concise": ("Be concise.", 0.01),
        "one_sentence": ("Answer in one short sentence.", 0.0),
        "complete": ("Give a complete answer.", 0.0),
        "last_line": ("Put the final answer on the last line.", 0.0),
        "asked_format": ("Use exactly the format that was asked for.", 0.01),
    }


def _line(subject: Subject, kind: str, line: str, promise: float) -> Edit:
    def change(text: str) -> str | None:
        return None if line in text else add_to_task(text, line, inline=True)

    assert subject.task_path is not None
    return Edit(
        name=f"format:{kind}",
        group="format",
        stage=Stage.FORMAT,
        says=f"add “{line}”",
        apply=section_edit(subject.task_path, change),
        promise=promise,
    )


def definition_edits(subject: Subject) -> list[Edit]:
    """Definitions in three forms; the text of a definition comes from the label's name."""
    if subject.task_path is None or not subject.words:
        return []
    meanings = {word: meaning(label, humanised(label)) for label, word in subject.words.items()}
    aspect = subject.aspect
    forms = {
        "if": " ".join(
            capitalised(f"if {what}, the {aspect} is {word}.") for word, what in meanings.items()
        ),
        "answer": " ".join(f"Answer {word} if {what}." for word, what in meanings.items()),
        "list": "\n".join(f"- {word}: {what}" for word, what in meanings.items()),
        "means": capitalised(
            "; ".join(f"{word} means that {what}" for word, what in meanings.items())
        )
        + ".",
    }
    return [_definition(subject, kind, text) for kind, text in forms.items()]


def _definition(subject: Subject, kind: str, definition: str) -> Edit:
    def change(text: str) -> str | None:
        return add_to_task(text, definition, inline=kind != "list")

    assert subject.task_path is not None
    return Edit(
        name=f"definitions:{kind}",
        group="definitions",
        stage=Stage.DEFINITIONS,
        says="say what each label means",
        apply=section_edit(subject.task_path, change),
        promise=0.01,
    )


def instruction_edits(subject: Subject) -> list[Edit]:
    """One edit for each instruction, each in a group of its own."""
    if subject.task_path is None:
        return []
    known = _FOR_LABELS if subject.words else _FOR_TEXT
    return [
        _instruction(subject, kind, line.format(noun=subject.noun)) for kind, line in known.items()
    ]


def _instruction(subject: Subject, kind: str, line: str) -> Edit:
    def change(text: str) -> str | None:
        return None if line in text else add_to_task(text, line, inline=True)

    assert subject.task_path is not None
    return Edit(
        name=f"instruct:{kind}",
        group=f"instruct:{kind}",
        stage=Stage.INSTRUCTIONS,
        says=f"add “{line}”",
        apply=section_edit(subject.task_path, change),
    )
