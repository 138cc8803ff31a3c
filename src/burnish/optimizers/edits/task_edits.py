"""Edits of the task: the frame of its input, its wording and its opening lines."""

from __future__ import annotations

import re
from collections.abc import Callable

from burnish.domain import placeholders
from burnish.optimizers.edits.edit import (
    Edit,
    Stage,
    add_to_task,
    capitalised,
    humanised,
    replace_words,
    section_edit,
    shows_input_only,
)
from burnish.optimizers.edits.lexicon import (
    CHOOSING,
    opening_verb,
    replacements,
    verb_class,
)
from burnish.optimizers.edits.subject import Subject

_SLOT = re.compile(r"\{\{[^{}]+\}\}")
_CUE_LINE = re.compile(r"\n+[^\n{}]{1,40}:\s*\Z")
_PERSONA_LINE = re.compile(r"(?i)\s*you are [^.!\n]*[.!]\s*")
_OBJECT = re.compile(
    r"(?i)(?:please\s+)?[a-z]+ (?P<object>(?:the|its|each|every) [^.,:;?]+?)"
    r"(?P<as> (?:as|into|to be) .+?)?[.:]?\Z"
)


def frame_edits(subject: Subject) -> list[Edit]:
    """Frames, cues and leads of the section that shows the input."""
    if subject.input_path is None:
        return []
    return [*_frames(subject), *_cues(subject), *_leads(subject)]


def _frames(subject: Subject) -> list[Edit]:
    forms: dict[str, tuple[Callable[[str, str], str], float]] = {
        "named": (lambda name, slot: f"{name}: {slot}", 0.02),
        "quoted": (lambda _, slot: f'"{slot}"', 0.0),
        "named_quoted": (lambda name, slot: f'{name}: "{slot}"', 0.01),
        "tagged": (lambda name, slot: f"<{_tag(name)}>\n{slot}\n</{_tag(name)}>", 0.0),
        "heading": (lambda name, slot: f"### {name}\n{slot}", 0.0),
        "bare": (lambda _, slot: slot, 0.0),
    }
    return [
        _edit(
            subject,
            name=f"frame:{kind}",
            stage=Stage.FRAME,
            says=f"show the input as “{form(capitalised(subject.noun), '…')}”".replace("\n", " "),
            change=_framing(form),
            promise=promise,
        )
        for kind, (form, promise) in forms.items()
    ]


def _framing(form: Callable[[str, str], str]) -> Callable[[str], str | None]:
    def change(text: str) -> str | None:
        lines = text.split("\n")
        if not any(shows_input_only(line) for line in lines):
            return None
        return "\n".join(_framed(line, form) if shows_input_only(line) else line for line in lines)

    return change


def _framed(line: str, form: Callable[[str, str], str]) -> str:
    found = _SLOT.search(line)
    assert found is not None
    name = (
        humanised(placeholders(found.group())[0].rsplit(".", 1)[-1]) if placeholders(line) else ""
    )
    return form(capitalised(name or "input"), found.group())


def _tag(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower())


def _cues(subject: Subject) -> list[Edit]:
    aspect = capitalised(subject.aspect)
    cues = {aspect.lower(): (f"{aspect}:", 0.03), "answer": ("Answer:", 0.01)}
    if subject.words:
        cues["label"] = ("Label:", 0.0)
        cues["the_aspect_is"] = (f"The {subject.aspect} of this {subject.noun} is:", 0.01)
        cues["overall"] = (f"Overall {subject.aspect}:", 0.01)
        cues["options"] = (f"{aspect} ({subject.listing}):", 0.0)
        cues["question"] = (f"Is this {subject.noun} {subject.listing}?", 0.0)
    else:
        cues["output"] = ("Output:", 0.0)
    return [
        _edit(
            subject,
            name=f"cue:{kind}",
            stage=Stage.CUE,
            says=f"end the input with “{line}”",
            change=_ending(line, "\n\n" if kind == "question" else "\n"),
            promise=promise,
        )
        for kind, (line, promise) in cues.items()
    ]


def _ending(line: str, gap: str) -> Callable[[str], str | None]:
    def change(text: str) -> str | None:
        body = _CUE_LINE.sub("", text)
        return f"{body}{gap}{line}" if placeholders(body) else f"{text}{gap}{line}"

    return change


def _leads(subject: Subject) -> list[Edit]:
    leads: dict[str, str] = {}
    sentence = subject.task_sentence()
    if sentence and subject.task_path != subject.input_path:
        leads["task"] = sentence
    if subject.words:
        leads["question"] = f"Is this {subject.noun} {subject.listing}?"
    return [
        _edit(
            subject,
            name=f"lead:{kind}",
            stage=Stage.LEAD,
            says=f"put “{line}” before the input",
            change=_starting(line),
        )
        for kind, line in leads.items()
    ]


def _starting(line: str) -> Callable[[str], str | None]:
    def change(text: str) -> str | None:
        return None if line in text else f"{line}\n\n{text}"

    return change


def _edit(
    subject: Subject,
    *,
    name: str,
    stage: Stage,
    says: str,
    change: Callable[[str], str | None],
    promise: float = 0.0,
) -> Edit:
    assert subject.input_path is not None
    return Edit(
        name=name,
        group=name.split(":", 1)[0],
        stage=stage,
        says=says,
        apply=section_edit(subject.input_path, change),
        promise=promise,
    )


def opening_edits(subject: Subject) -> list[Edit]:
    """Personas and a call for care; a persona that is there can also go."""
    if subject.task_path is None:
        return []
    aspect = subject.aspect
    personas = {
        "assistant": "You are a helpful assistant.",
        "expert": f"You are an expert who knows all about {subject.noun}s.",
        "careful": "You are careful and exact.",
    }
    if subject.words:
        kind = "text" if aspect in ("category", "answer", subject.noun) else aspect
        personas["classifier"] = f"You are a {kind} classifier."
    found = [
        _opening(subject, f"persona:{kind}", "persona", text) for kind, text in personas.items()
    ]
    if _PERSONA_LINE.match(subject.task):
        found.append(_without_persona(subject))
    care = f"Read the {subject.noun} carefully."
    found.append(_opening(subject, "care:read", "care", care))
    return found


def _opening(subject: Subject, name: str, group: str, line: str) -> Edit:
    def change(text: str) -> str | None:
        if line.lower() in text.lower():
            return None
        if group == "persona" and (old := _PERSONA_LINE.match(text)):
            return line + " " + text[old.end() :].lstrip() if text[old.end() :].strip() else line
        return (
            f"{line} {text}" if text.strip() and not text.startswith("{{") else f"{line}\n\n{text}"
        )

    assert subject.task_path is not None
    return Edit(
        name=name,
        group=group,
        stage=Stage.OPENING,
        says=f"start with “{line}”",
        apply=section_edit(subject.task_path, change),
        promise=-0.01,
    )


def _without_persona(subject: Subject) -> Edit:
    def change(text: str) -> str | None:
        rest = _PERSONA_LINE.sub("", text, count=1)
        return capitalised(rest) if rest.strip() else None

    assert subject.task_path is not None
    return Edit(
        name="persona:drop",
        group="persona",
        stage=Stage.OPENING,
        says="drop the sentence that says who answers",
        apply=section_edit(subject.task_path, change),
    )


def wording_edits(subject: Subject) -> list[Edit]:
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
