"""Instructions that help many tasks; several may be added at once."""

from __future__ import annotations

from burnish.optimizers.edits.operators.edit import Edit, Stage, section_edit
from burnish.optimizers.edits.operators.subject import Subject
from burnish.optimizers.edits.operators.texts import add_to_task

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


def edits(subject: Subject) -> list[Edit]:
    """One edit for each instruction of the library, each in a group of its own."""
    if subject.task_path is None:
        return []
    library = _FOR_LABELS if subject.words else _FOR_TEXT
    return [
        _instruction(subject, kind, line.format(noun=subject.noun))
        for kind, line in library.items()
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
