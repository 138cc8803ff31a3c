"""The words that the model says for the labels, and the order in which they are listed."""

from __future__ import annotations

import re
from collections.abc import Mapping

from burnish.domain import Configuration
from burnish.optimizers.edits.operators.edit import Edit, Stage, with_parameter
from burnish.optimizers.edits.operators.lexicon import synonyms
from burnish.optimizers.edits.operators.subject import Subject
from burnish.optimizers.edits.operators.texts import add_to_task, any_of, humanised, replace_words

_LETTERS = "ABCDEFGHIJ"
_TELLING = 3


def edits(subject: Subject) -> list[Edit]:
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
