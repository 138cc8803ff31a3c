"""What each label means, said in the task."""

from __future__ import annotations

from burnish.optimizers.edits.operators.edit import Edit, Stage, section_edit
from burnish.optimizers.edits.operators.lexicon import meaning
from burnish.optimizers.edits.operators.subject import Subject
from burnish.optimizers.edits.operators.texts import add_to_task, capitalised, humanised


def edits(subject: Subject) -> list[Edit]:
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
