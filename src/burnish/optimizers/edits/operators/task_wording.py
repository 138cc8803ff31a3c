"""How the task is worded: another verb, a question, a sentence of its own, labels named or not."""

from __future__ import annotations

import re

from burnish.optimizers.edits.operators.edit import Edit, Stage, section_edit
from burnish.optimizers.edits.operators.subject import Subject
from burnish.optimizers.edits.operators.texts import add_to_task, replace_words
from burnish.optimizers.edits.operators.verbs import (
    CHOOSING,
    opening_verb,
    replacements,
    verb_class,
)

_OBJECT = re.compile(
    r"(?i)(?:please\s+)?[a-z]+ (?P<object>(?:the|its|each|every) [^.,:;?]+?)"
    r"(?P<as> (?:as|into|to be) .+?)?[.:]?\Z"
)


def edits(subject: Subject) -> list[Edit]:
    """Rewordings of the sentence that names the job, and labels named in it."""
    if subject.task_path is None:
        return []
    verbs = _verbs(subject)
    sentence = subject.task_sentence()
    if sentence is None:
        return [*verbs, *_written(subject, None)]
    return [
        *verbs,
        *_question(subject, sentence),
        *_written(subject, sentence),
        *_options(subject, sentence),
    ]


def _verbs(subject: Subject) -> list[Edit]:
    sentence = subject.task_sentence(with_input=True)
    if sentence is None:
        return []
    here = opening_verb(sentence)
    return [
        _replacing(subject, f"task:verb:{verb}", sentence, text, f"say {verb} instead of {here}")
        for verb, text in replacements(sentence).items()
    ]


def _question(subject: Subject, sentence: str) -> list[Edit]:
    found = _OBJECT.match(sentence)
    if not found or verb_class(sentence) != CHOOSING:
        return []
    options = f": {subject.listing}" if found["as"] and subject.words else ""
    text = f"What is {found['object'].strip()}{options}?"
    return [_replacing(subject, "task:question", sentence, text, "ask it as a question")]


def _written(subject: Subject, sentence: str | None) -> list[Edit]:
    """For labels the whole sentence is known: the input and the words to choose from."""
    if not subject.words:
        return []
    noun, aspect, listing = subject.noun, subject.aspect, subject.listing
    of_it = (
        f"the {aspect} of the {noun}"
        if aspect not in ("category", "answer", noun)
        else f"the {noun}"
    )
    texts = {
        "classify": f"Classify {of_it} as {listing}.",
        "is": f"Is this {noun} {listing}?",
        "decide": f"Decide whether {of_it} is {listing}.",
        "choose": f"Choose the right {aspect} for the {noun}: {listing}.",
        "read_and_say": f"Read the {noun} and say if it is {listing}.",
    }
    return [
        _replacing(subject, f"task:written:{kind}", sentence, text, f"word the task as “{text}”")
        for kind, text in texts.items()
        if text != sentence
    ]


def _options(subject: Subject, sentence: str) -> list[Edit]:
    if not subject.words or verb_class(sentence) != CHOOSING:
        return []
    marked = replace_words(sentence, dict.fromkeys(subject.words.values(), "\x00"))
    if "\x00" not in marked:
        text = f"{sentence.rstrip('.:')} as {subject.listing}."
        return [
            _replacing(
                subject,
                "options:as",
                sentence,
                text,
                f"name the choices: {subject.listing}",
                group="options",
                promise=0.02,
            )
        ]
    shorter = re.sub(r" (?:as|into|to be)(?: either)? [^.?!]*\x00[^.?!]*", "", marked)
    if "\x00" in shorter or shorter == marked:
        return []
    return [
        _replacing(
            subject, "options:drop", sentence, shorter, "do not name the choices", group="options"
        )
    ]


def _replacing(
    subject: Subject,
    name: str,
    before: str | None,
    after: str,
    says: str,
    *,
    group: str = "task",
    promise: float = 0.0,
) -> Edit:
    def change(text: str) -> str | None:
        if before is None:
            return add_to_task(text, after)
        if before in text:
            return text.replace(before, after, 1)
        return None

    assert subject.task_path is not None
    return Edit(
        name=name,
        group=group,
        stage=Stage.TASK,
        says=says,
        apply=section_edit(subject.task_path, change),
        promise=promise,
    )
