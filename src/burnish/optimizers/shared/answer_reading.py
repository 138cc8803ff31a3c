"""Answers of a meta-model: the new text of a section with its reason, or why there is none."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from burnish.domain import placeholders
from burnish.optimizers.shared.cleaning import (
    extract_rationale,
    extract_text,
    marked_block,
    without_thoughts,
)

_MOST_REASON = 300
_I_CANNOT = (
    r"(?:i(?:'|’)?m|i am) (?:very )?(?:sorry|afraid|unable|not able|not going)"
    r"|i (?:can ?not|can(?:'|’)t|won(?:'|’)t|could not|couldn(?:'|’)t) (?:be able|help|assist|comply"
    r"|fulfil|do (?:that|this|so)|provide|write|rewrite|continue|proceed|share)"
    r"|i (?:must|have to) decline"
)
_REFUSES = re.compile(
    rf"(?:\A|(?<=[.!?:,] )|\n)\W*(?:unfortunately,? )?(?:{_I_CANNOT}|sorry,|as an ai\b)",
    re.IGNORECASE,
)
_NOTHING_NEW = re.compile(
    r"\A\W*(?:no changes? (?:is |are )?(?:needed|necessary|required)|nothing (?:needs|has) to)",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\A\W*(?:before i (?:write|start|begin|can)|i need (?:more|some)"
    r"|please (?:provide|share|tell|send)"
    r"|(?:could|can|would|will) you (?:please )?(?:provide|share|tell|clarify|confirm|explain|give)"
    r"|(?:do you (?:want|mean|have)|should i|shall i|may i))\b",
    re.IGNORECASE,
)
# What is said about the text where the text itself did not come.
_ABOUT = re.compile(
    r"\A\W*(?:the (?:assistant|model|agent|(?:current |old )?(?:section|instructions?|prompt|text))"
    r"\b[^\n]{0,60}\b(?:did(?: not|n't)|does(?: not|n't)|was|were|failed|fails|lacks?|miss(?:es|ed))\b"
    r"|i (?:will|would|have|looked|added|changed|noticed|see|think|suggest|propose)\b|i(?:'|’)ll\b"
    r"|looking at\b|let me\b|it (?:did|does)(?: not|n't)\b)",
    re.IGNORECASE,
)
_LEFT_OUT = re.compile(
    r"(?im)^\W*(?:[\[(<{…]|\.\.\.)[^\n]{0,60}\b(?:keep|rest|remain\w*|unchanged|existing|previous"
    r"|as before|same as|as above)\b[^\n]{0,60}(?:[\])>}…]|\.\.\.)\W*$"
)
_TEXT_KEY = re.compile(
    r"(?:(?:new|improved|updated|revised|final|better|rewritten|optimi[sz]ed)[_ -]?)?"
    r"(?:text|prompt|instructions?|section|template|system|system[_ -]?(?:prompt|message))",
    re.IGNORECASE,
)
_REASON_KEY = re.compile(
    r"reasons?|reasoning|rationale|explanation|why|thoughts?|analysis|changes|summary",
    re.IGNORECASE,
)
_LIKE_JSON = re.compile(r"\{\s*\"[^\"\n]{1,60}\"\s*:")
_WHOLE_LINE = re.compile(r"[.!?:;,)\]}>\"'”’`*|…_-]\s*\Z")
_SHORT_LINES = 4
# By the reason for which a model stopped: why there is no text.
NO_ANSWER = {"length": "cut", "refusal": "refusal", "content_filter": "refusal"}


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A section's new text, and what was said about it."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Unusable:
    """Why an answer gives no text.

    One of refusal, counter_question, cut, empty, unchanged, placeholders (one was lost), unreadable;
    or failed, where no answer came.
    """

    kind: str


def read_answer(
    answer: str, current: str, *, section: str = "", finish_reason: str = "stop"
) -> Rewritten | Unusable:
    """What an answer makes of a section that reads `current`."""
    said = without_thoughts(answer).strip()
    if finish_reason in NO_ANSWER:
        return Unusable(NO_ANSWER[finish_reason])
    if not any(character.isalnum() for character in said):
        return Unusable("empty")
    found = _from_json(said, current, section) or _from_text(said, current)
    if isinstance(found, Unusable):
        return found
    text = _without_role(found.text, current)
    fault = _fault(text, current)
    return Rewritten(text, found.reason) if fault is None else Unusable(fault)


def _from_text(said: str, current: str) -> Rewritten | Unusable:
    block, text = marked_block(said, current), extract_text(said, current=current)
    if block is None:
        if _NOTHING_NEW.match(said):
            return Unusable("unchanged")
        if _ASKS.match(said) or _is_question(said, current):
            return Unusable("counter_question")
        if _REFUSES.search(said) and not _REFUSES.search(current):
            return Unusable("refusal")
        if _ABOUT.match(said) and not _ABOUT.match(current):
            return Unusable("unreadable")
    elif not block.closed and not _ends_whole(block.text, current):
        return Unusable("cut")
    if text is None:
        empty = block is not None and not any(one.isalnum() for one in block.text)
        return Unusable("empty" if empty else "unreadable")
    return Rewritten(text, extract_rationale(said))


def _from_json(said: str, current: str, section: str) -> Rewritten | Unusable | None:
    """The one text of a JSON object, bare or fenced; None where the answer is no such object."""
    block = marked_block(said, current)
    raw = (said if block is None or said.startswith("{") else block.text).strip()
    if not _LIKE_JSON.match(raw) or _LIKE_JSON.match(current.lstrip()):
        return None
    try:
        value = json.loads(raw, strict=False)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":  # A text that begins with JSON.
            return None
        return Unusable("unreadable" if raw.endswith("}") else "cut")
    texts = {
        name: "\n".join(map(str, one)) if isinstance(one, list) else one
        for name, one in value.items()
        if isinstance(one, (str, list))
    }
    named = [one for name, one in texts.items() if name == section or _TEXT_KEY.fullmatch(name)]
    others = [one for name, one in texts.items() if not _REASON_KEY.fullmatch(name)]
    chosen = named if len(named) == 1 else others
    if len(chosen) != 1 or not chosen[0].strip():
        return Unusable("unreadable")
    return Rewritten(chosen[0].strip("\n").rstrip(), reason_in(texts))


def reason_in(fields: Mapping[str, object]) -> str:
    """What a JSON answer says about its text, in one line."""
    said = [str(one) for name, one in fields.items() if _REASON_KEY.fullmatch(name)]
    return " ".join(" ".join(said).split())[:_MOST_REASON]


def _is_question(text: str, current: str) -> bool:
    """Whether all of it is a question, which the current text is not."""
    short = text.count("\n") < _SHORT_LINES and not placeholders(text)
    return short and text.rstrip().endswith("?") and not current.rstrip().endswith("?")


def _ends_whole(text: str, current: str) -> bool:
    """Whether a text that nobody closed ends where a text may end."""
    last = text.rstrip().rsplit("\n", 1)[-1].strip()
    return bool(_WHOLE_LINE.search(last)) or last in (one.strip() for one in current.split("\n"))


def _without_role(text: str, current: str) -> str:
    """Without the name of a role before the text."""
    role = re.compile(
        r"\A\s*[#*_ ]*(?:(?:system|user|assistant)(?: prompt| message)?[*_ ]*:[*_ \t]*\n"
        r"|system(?: prompt| message)?[*_ ]*:[*_]*[ \t]+)",
        re.IGNORECASE,
    )
    shorter = text if role.match(current) else role.sub("", text, count=1)
    return shorter if shorter.strip() else text


def _fault(text: str, current: str) -> str | None:
    if text.strip() == current.strip():
        return "unchanged"
    if _REFUSES.match(text) and not _REFUSES.match(current):
        return "refusal"
    if _ASKS.match(text) and _is_question(text, current):
        return "counter_question"
    if _LEFT_OUT.search(text) and not _LEFT_OUT.search(current):
        return "cut"
    return "placeholders" if set(placeholders(current)) - set(placeholders(text)) else None
