"""How the input is shown: its frame, a cue after it, a question or the task around it."""

from __future__ import annotations

import re
from collections.abc import Callable

from burnish.domain import placeholders
from burnish.optimizers.edits.operators.edit import Edit, Stage, section_edit
from burnish.optimizers.edits.operators.subject import Subject
from burnish.optimizers.edits.operators.texts import capitalised, humanised, shows_input_only

_SLOT = re.compile(r"\{\{[^{}]+\}\}")
_CUE_LINE = re.compile(r"\n+[^\n{}]{1,40}:\s*\Z")


def edits(subject: Subject) -> list[Edit]:
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
