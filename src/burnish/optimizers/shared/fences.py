"""Blocks that a model set apart in its answer: code fences and tags."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_FENCE = re.compile(r" {0,3}(?P<marks>`{3,}|~{3,})[ \t]*(?P<info>[\w+.#/-]*)[ \t]*\Z")
_ONE_LINE = re.compile(r"(?m)^[ \t]*```(?![`\w]*[ \t]*$)(?P<text>.+?)```[ \t]*$", re.DOTALL)
_NEW = r"(?:new|improved|updated|revised|final|better|rewritten|optimi[sz]ed)[_ -]?"
_TAG = re.compile(
    rf"(?m:^)[ \t]*<(?P<name>{_NEW}(?:instructions?|prompt|text|section|system[_ -]?prompt)"
    r"|instructions?|prompt|system[_ -]?prompt|section|text|ins)>"
    r"(?P<text>.*?)(?:</(?P=name)>|\Z)",
    re.DOTALL | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A piece of an answer; `start` and `end` span its marks too, as positions in the answer."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    start: int
    end: int


def fenced_blocks(answer: str) -> list[Block]:
    """The outermost code fences in order.

    A fence with a language inside an open one nests, and so does a shorter or another one. What is
    left open at the end reaches to the end. The closing marks may stand at the end of a text line.
    """
    found: list[Block] = []
    lines = _lines(answer)
    opened: list[tuple[int, str]] = []
    for number, line in enumerate(lines):
        fence = _FENCE.match(line.text)
        if fence and _closes(fence, opened):
            first, _ = opened.pop()
            if not opened:
                found.append(_between(answer, lines, first, number, line.start))
        elif fence and _opens(fence, opened):
            opened.append((number, fence["marks"]))
        elif not fence and len(opened) == 1 and _ends_glued(lines, number, opened[0][1]):
            first, _ = opened.pop()
            text_end = line.start + len(_glued_text(line.text))
            found.append(_between(answer, lines, first, number, text_end))
    if opened and opened[0][0] + 1 < len(lines):
        first = opened[0][0]
        found.append(
            Block(
                text=answer[lines[first].end :],
                start=lines[first].start,
                end=len(answer),
            )
        )
    if not found:
        found = [
            Block(text=m["text"], start=m.start(), end=m.end()) for m in _ONE_LINE.finditer(answer)
        ]
    return found


def widest_fence(answer: str) -> Block | None:
    """From the first fence line to the last: for texts that hold fences themselves."""
    lines = _lines(answer)
    fences = [number for number, line in enumerate(lines) if _FENCE.match(line.text)]
    if len(fences) < 2:
        return None
    return _between(answer, lines, fences[0], fences[-1], lines[fences[-1]].start)


def tagged_blocks(answer: str) -> list[Block]:
    """What stands in tags such as `<new_instructions>`; without an end tag, the rest."""
    return [Block(text=m["text"], start=m.start(), end=m.end()) for m in _TAG.finditer(answer)]


def fence(text: str) -> str:
    """A text between fences that are longer than those inside it."""
    inside = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    marks = "`" * (inside + 1)
    return f"{marks}\n{text}\n{marks}"


def outside(answer: str, blocks: Sequence[Block]) -> str:
    """The answer without the blocks."""
    kept, at = [], 0
    for block in sorted(blocks, key=lambda one: one.start):
        kept.append(answer[at : block.start])
        at = max(at, block.end)
    return "\n".join([*kept, answer[at:]])


def _lines(answer: str) -> list[_Line]:
    found, at = [], 0
    for raw in answer.split("\n"):
        end = min(at + len(raw) + 1, len(answer))
        found.append(_Line(raw, at, end))
        at = end
    return found


def _between(answer: str, lines: list[_Line], first: int, last: int, text_end: int) -> Block:
    return Block(
        text=answer[lines[first].end : max(text_end, lines[first].end)],
        start=lines[first].start,
        end=lines[last].end,
    )


def _closes(fence: re.Match[str], opened: list[tuple[int, str]]) -> bool:
    if not opened or fence["info"]:
        return False
    marks = opened[-1][1]
    return fence["marks"][0] == marks[0] and len(fence["marks"]) >= len(marks)


def _opens(fence: re.Match[str], opened: list[tuple[int, str]]) -> bool:
    """Inside a longer fence, and inside one of other marks, every fence is text."""
    if not opened:
        return True
    marks = opened[-1][1]
    return fence["marks"] == marks and bool(fence["info"])


def _glued_text(line: str) -> str:
    """A line without marks at its end."""
    bare = line.rstrip(" \t")
    return bare.rstrip(bare[-1]).rstrip(" \t") if bare.endswith(("```", "~~~")) else line


def _ends_glued(lines: list[_Line], number: int, marks: str) -> bool:
    """Whether a text line ends with the closing marks, and no line below closes instead."""
    bare, text = lines[number].text.rstrip(" \t"), _glued_text(lines[number].text)
    if not text or text == lines[number].text or not bare.endswith(marks) or marks in text:
        return False
    return not any(_FENCE.match(line.text) for line in lines[number + 1 :])
