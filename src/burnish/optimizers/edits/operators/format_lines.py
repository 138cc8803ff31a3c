"""The line that says what an answer looks like."""

from __future__ import annotations

from burnish.optimizers.edits.operators.edit import Edit, Stage, section_edit
from burnish.optimizers.edits.operators.subject import Subject
from burnish.optimizers.edits.operators.texts import add_to_task


def edits(subject: Subject) -> list[Edit]:
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
