"""Lines at the top of the task: who answers, and how to read the input."""

from __future__ import annotations

import re

from burnish.optimizers.edits.operators.edit import Edit, Stage, section_edit
from burnish.optimizers.edits.operators.subject import Subject
from burnish.optimizers.edits.operators.texts import capitalised

_PERSONA_LINE = re.compile(r"(?i)\s*you are [^.!\n]*[.!]\s*")


def edits(subject: Subject) -> list[Edit]:
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
