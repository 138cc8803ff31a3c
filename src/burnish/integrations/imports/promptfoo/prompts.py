"""promptfoo's prompts as sections."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burnish.integrations.imports.chat import NotChatError, read_turns, sections_of
from burnish.integrations.imports.files import (
    YAML,
    Beside,
    CannotTakeError,
    is_code,
    read_text,
    shown_reference,
)
from burnish.integrations.imports.project import Findings
from burnish.integrations.imports.templates import logic_in, with_quoted_dumps, with_renamed
from burnish.integrations.imports.yaml_text import BrokenYamlError, parse_yaml

_FILES = (".txt", ".md", ".json", ".jsonl", ".j2", ".csv", *YAML)
_PARTED = re.compile(r"^---[ \t]*$", re.MULTILINE)
_CHAT_IN_YAML = re.compile(r"\A\s*-\s+[\"']?role[\"']?\s*:")
_MOST = 1000


@dataclass(frozen=True, slots=True)
class ForeignPrompt:
    """One prompt: where it stands, its own text, and what it is as sections."""

    place: str
    text: str
    sections: Mapping[str, str]
    logic: str | None = None


def read_prompts(given: Any, beside: Beside, findings: Findings) -> list[ForeignPrompt]:
    """All prompts, in order; those that are code are listed as not taken."""
    prompts: list[ForeignPrompt] = []
    for place, text in _texts(given, beside, findings):
        if len(prompts) >= _MOST:
            findings.leave(place, "this and later prompts", f"more than {_MOST} prompts")
            break
        if text.strip():
            prompts.append(_prompt(place, text, findings))
    return prompts


def _texts(given: Any, beside: Beside, findings: Findings) -> Iterator[tuple[str, str]]:
    if given is None:
        return
    if isinstance(given, Mapping):  # The old form: labels by path.
        given = list(given)
    for number, one in enumerate(given if isinstance(given, list) else [given], start=1):
        place = f"prompt {number}"
        raw = one
        if isinstance(one, Mapping):
            raw = one.get("raw", one.get("id"))
            for key in one:
                if key not in ("raw", "id", "label", "display"):
                    findings.leave(place, f"the key {str(key)[:80]}", "nothing here stands for it")
        if not isinstance(raw, str):
            findings.leave(place, type(one).__name__, "it is not a text")
        elif is_reference(raw):
            yield from _from_files(raw, place, beside, findings)
        else:
            yield place, raw


def is_reference(raw: str) -> bool:
    """Whether a prompt is a path rather than the words themselves."""
    name = raw.strip()
    if name.startswith(("file://", "exec:", "langfuse://", "portkey://", "helicone://")):
        return True
    one_word = "\n" not in name and " " not in name and "{{" not in name
    return one_word and (name.lower().endswith(_FILES) or is_code(name))


def _from_files(
    raw: str, place: str, beside: Beside, findings: Findings
) -> Iterator[tuple[str, str]]:
    try:
        if raw.startswith("exec:"):
            raise CannotTakeError("it is code, which is never run")
        for path in beside.find(raw):
            yield from _of_file(path, f"{place}, {path.name}")
    except CannotTakeError as error:
        findings.leave(place, shown_reference(raw), str(error))


def _of_file(path: Path, place: str) -> Iterator[tuple[str, str]]:
    suffix = path.suffix.lower()
    text = read_text(path)
    parts = [text]
    if suffix == ".txt":
        parts = _PARTED.split(text)
    elif suffix == ".jsonl":
        parts = text.splitlines()
    elif suffix == ".csv":
        parts = _of_table(text)
    parts = [part.strip("\n") for part in parts if part.strip()]
    if not parts:
        raise CannotTakeError("it holds no prompt")
    for number, part in enumerate(parts, start=1):
        yield (place if len(parts) == 1 else f"{place}, part {number}"), part


def _of_table(text: str) -> list[str]:
    """The column `prompt`; without a header, the first column."""
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    except csv.Error as error:
        raise CannotTakeError(f"it is not a table: {error}") from error
    names = [name.strip().lower() for name in rows[0]] if rows else []
    column = names.index("prompt") if "prompt" in names else 0
    body = rows[1:] if "prompt" in names else rows
    return [row[column] for row in body if len(row) > column]


def _prompt(place: str, text: str, findings: Findings) -> ForeignPrompt:
    renamed = with_renamed(text)
    sections: Mapping[str, str] = {"user": renamed.strip()}
    try:
        messages = _messages(renamed)
        if messages is not None:
            sections, folded = sections_of(read_turns(messages))
            if folded:
                findings.note(f"{place}: its turns are written as one text in the section user")
    except NotChatError as error:
        findings.leave(place, "the chat form of it", f"{error}; it stays one text")
    logic = next((found for one in sections.values() if (found := logic_in(one))), None)
    if logic is not None:
        findings.leave(place, logic, "it is Nunjucks, which is not run; it stays in the text")
    return ForeignPrompt(place, text, sections or {"user": renamed}, logic)


def _messages(text: str) -> Any:
    """The chat messages that a prompt is written as; None for any other text."""
    if text.lstrip().startswith("["):
        for form in (text, with_quoted_dumps(text)):
            try:
                value = json.loads(form)
            except (ValueError, RecursionError):
                continue
            return value if _looks_like_chat(value) else None
    if _CHAT_IN_YAML.match(text):
        try:
            return parse_yaml(text)
        except BrokenYamlError as error:
            raise NotChatError(error.message) from error
    return None


def _looks_like_chat(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(one, dict) and "role" in one for one in value)
