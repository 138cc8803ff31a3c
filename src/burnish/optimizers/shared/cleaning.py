"""Cleaning of model answers: the new text of a section, fences, thoughts and lead-ins gone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from burnish.domain import placeholders

_FENCE = re.compile(r" {0,3}(?P<marks>`{3,}|~{3,})[ \t]*(?P<info>[\w+.#/-]*)[ \t]*\Z")
_ONE_LINE = re.compile(r"(?m)^[ \t]*```(?![`\w]*[ \t]*$)(?P<text>.+?)```[ \t]*$", re.DOTALL)
_FENCED = r"(?:new|improved|updated|revised|final|better|rewritten|optimi[sz]ed)[_ -]?"
_TAG = re.compile(
    rf"(?m:^)[ \t]*<(?P<name>{_FENCED}(?:instructions?|prompt|text|section|system[_ -]?prompt)"
    r"|instructions?|prompt|system[_ -]?prompt|section|text|ins)>"
    r"(?P<text>.*?)(?:</(?P=name)>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_MOST_RATIONALE = 300
# Of several blocks the last one counts, unless it is but a fragment beside the longest.
_FRAGMENT = 0.4
_ROOM = 4
_LEAST = 12
_THOUGHT = re.compile(
    r"\A(?:\s*<think(?:ing)?>(?:.*?</think(?:ing)?>|.*\Z)|[^`]*?</think(?:ing)?>)",
    re.DOTALL | re.IGNORECASE,
)
_KIND = r"(?:prompt|instructions?|text|version|section|wording|rewrite|template|proposal)"
_NEW = r"(?:new|improved|updated|revised|final|better|rewritten|optimi[sz]ed|proposed|refined)"
_GREETING = (
    r"(?:(?:sure|certainly|of course|absolutely|okay|ok|great|understood|got it)\b"
    r"[^\n:]{0,40}?[!,.:]\s*)"
)
_HERE = r"(?:here(?:'s|’s| is)|below is|this is|i(?:'ve|’ve| have) (?:re)?written)"
_ABOUT_IT = rf"(?:{_NEW}\b|(?:prompt|instructions?|version|rewrite)\b)"
_LEAD_IN = re.compile(
    rf"\A\s*(?:{_GREETING}?"
    rf"(?:{_HERE} [^\n:.]{{0,80}}?{_ABOUT_IT}[^\n:.]{{0,80}}:[*_`]*[ \t]*\n?"
    rf"|[#*_ \t]*(?:the |my |your )?{_NEW} (?:[\w-]+ ){{0,2}}{_KIND}[*_ \t]*:[*_ \t]*\n?"
    rf"|#+[ \t]*(?:the |my )?{_NEW} (?:[\w-]+ ){{0,2}}{_KIND}[ \t]*\n)"
    rf"|{_GREETING}(?=\n|here|\Z))",
    re.IGNORECASE,
)
_REASON = (
    r"rationale|explanation|why this (?:works|helps)|what (?:i )?changed|changes(?: made)?"
    r"|key (?:changes|improvements)|improvements made|summary of changes"
)
_TRAILER = re.compile(
    rf"\n[ \t]*(?:\n[ \t]*[#*_-]*[ \t]*(?P<reason>(?:{_REASON})[*_]*[ \t]*(?::|\n))"
    rf"|i hope (?:this|that|it)\b|hope this helps|let me know\b|feel free to\b"
    rf"|please let me know\b|(?:this|the) {_NEW} (?:[\w-]+ )?{_KIND} (?!must|should|is to)"
    rf"|would you like me to\b)"
    r"(?:.*)\Z",
    re.DOTALL | re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\A\W*(?:i(?:'|’)?m sorry|i am sorry|sorry,|i (?:cannot|can(?:'|’)t|am unable|won(?:'|’)t)\b"
    r"|as an ai\b|i need more (?:information|context)|could you (?:please )?(?:provide|share)"
    r"|please provide\b|no changes? (?:is |are )?(?:needed|necessary|required))",
    re.IGNORECASE,
)
_LINE = r"[ \t]*(?:-{3,}|\*{3,}|_{3,}|={3,})[ \t]*"
_RULE = re.compile(rf"\A(?:{_LINE}\n)+|(?:\n{_LINE})+\Z")
_OF_USE = re.compile(
    r"\b(?:examples?|for instance|e\.g\.|usage|sample|in use"
    r"|how (?:it|this) (?:works|looks|is used))\b",
    re.IGNORECASE,
)
_QUOTES = (('"', '"'), ("“", "”"), ("'", "'"), ("‘", "’"), ("`", "`"), ("«", "»"))


def extract_text(answer: str, *, current: str) -> str | None:
    """The new text of a section whose text is `current`; None when the answer holds none.

    A fence or a tag marks the text. Without one the whole answer counts, less what a model says
    around it, as long as it keeps the placeholders and is no refusal.
    """
    said = without_thoughts(answer)
    block = marked_block(said, current)
    if block is not None:
        return _usable(_unwrapped(_tidy(_without_lead_in(block.text, current)), current))
    text = _unquoted(_without_meta(said, current), current)
    if text is None or _REFUSAL.match(text) or not _plausible(text, current):
        return None
    return text


def extract_rationale(answer: str) -> str:
    """What the model said beside the text, in one line of at most 300 characters."""
    said = without_thoughts(answer)
    blocks = fenced_blocks(said) or tagged_blocks(said)
    if blocks:
        beside = "\n".join(
            part
            for part in outside(said, blocks).split("\n")
            if not _LEAD_IN.fullmatch(part + "\n")
        )
    else:
        trailer = _TRAILER.search(said)
        beside = trailer.group(0) if trailer and trailer["reason"] else ""
    beside = re.sub(rf"(?im)^[ \t]*[#*_-]*[ \t]*(?:{_REASON})[*_]*[ \t]*:[*_]*", "", beside)
    beside = re.sub(r"(?im)^[ \t]*(?:i hope (?:this|it)|hope this|let me know)[^\n]*$", "", beside)
    line = " ".join(beside.split()).strip("-*_#=: ")
    return line if len(line) <= _MOST_RATIONALE else line[: _MOST_RATIONALE - 1].rstrip() + "…"


def without_thoughts(answer: str) -> str:
    """Without the reasoning that some models put before their answer."""
    return _THOUGHT.sub("", answer.replace("\r\n", "\n").replace("\r", "\n"))


def marked_block(said: str, current: str) -> Block | None:
    """The block that holds the text, if the answer marks one."""
    if "```" in current or "~~~" in current:
        widest = widest_fence(said)
        if widest is not None:
            return widest
    fenced = _best(_without_examples(said, fenced_blocks(said)), current)
    tagged = _best([one for one in tagged_blocks(said) if one.text not in current], current)
    if fenced is None or tagged is None:
        return fenced or tagged
    # The outer one marks the text, the inner one belongs to it or is taken off later.
    return tagged if tagged.start <= fenced.start and fenced.end <= tagged.end else fenced


def _without_examples(said: str, blocks: list[Block]) -> list[Block]:
    """The first block, and later ones that are not announced as an example of use."""
    kept = blocks[:1]
    for one in blocks[1:]:
        before = said[: one.start].rstrip().rsplit("\n", 1)[-1]
        if not _OF_USE.search(before) or re.search(rf"\b{_NEW}\b", before, re.IGNORECASE):
            kept.append(one)
    return kept


def _best(blocks: Sequence[Block], current: str) -> Block | None:
    """The last block that is no fragment; an unchanged copy and a lost placeholder count less."""
    sensible = [one for one in blocks if one.text.strip()]
    needed = set(placeholders(current))
    for fits in (
        lambda one: needed <= set(placeholders(one.text)),
        lambda one: one.text.strip() != current.strip(),
    ):
        sensible = [one for one in sensible if fits(one)] or sensible
    longest = max((len(one.text.strip()) for one in sensible), default=0)
    return next(
        (one for one in reversed(sensible) if len(one.text.strip()) >= _FRAGMENT * longest), None
    )


def _unwrapped(text: str, current: str) -> str:
    """Without a fence or a tag around all of it that the current text does not have."""
    for blocks in (fenced_blocks(text), tagged_blocks(text)):
        whole = next((one for one in blocks if (one.start, one.end) == (0, len(text))), None)
        if whole and whole.text.strip() and not current.strip().startswith(text[:3]):
            return _tidy(whole.text)
    return text


def _without_lead_in(text: str, current: str) -> str:
    shorter = _LEAD_IN.sub("", text, count=1)
    return shorter if shorter.strip() and not _LEAD_IN.match(current) else text


def _without_meta(said: str, current: str) -> str:
    text = said.strip()
    for _ in range(3):
        before = text
        text = _RULE.sub("", _LEAD_IN.sub("", text, count=1)).strip()
        if text == before:
            break
    if not _TRAILER.search(current):
        text = _TRAILER.sub("", text)
    return _RULE.sub("", text.strip()).strip()


def _unquoted(text: str, current: str) -> str | None:
    for first, last in _QUOTES:
        inner = text[1:-1]
        around = len(text) > 1 and text.startswith(first) and text.endswith(last)
        if around and first not in inner and last not in inner and not current.startswith(first):
            return _usable(inner.strip())
    return _usable(text)


def _tidy(text: str) -> str:
    """Without blank lines at the ends; the first line keeps its indentation."""
    return re.sub(r"\A(?:[ \t]*\n)+", "", text).rstrip()


def _usable(text: str) -> str | None:
    return text if any(character.isalnum() for character in text) else None


def _plausible(text: str, current: str) -> bool:
    """Whether an unmarked answer may be the text: placeholders kept, neither a word nor a tale."""
    keeps = set(placeholders(current)) <= set(placeholders(text))
    least, most = min(_LEAST, len(current) // 2), max(_ROOM * len(current), 2_000)
    return keeps and least <= len(text) <= most


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A piece of an answer; `start` and `end` span its marks too, as positions in the answer."""

    text: str
    start: int
    end: int
    closed: bool = True


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
                closed=False,
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
