"""Prompts of promptfoo as sections, and Nunjucks in its texts: names are taken, nothing is run."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burnish.domain import Json, UsageError, placeholders, render
from burnish.integrations.imports.chat import NotChatError, read_turns, sections_of
from burnish.integrations.imports.files import (
    YAML,
    Beside,
    BrokenYamlError,
    CannotTakeError,
    is_code,
    parse_yaml,
    read_text,
    shown_reference,
)
from burnish.integrations.imports.project import Findings

_STATEMENT = re.compile(r"\{%.*?%\}|\{#.*?#\}|\{%|\{#", re.DOTALL)
_EXPRESSION = re.compile(r"\{\{(.{0,500}?)\}\}", re.DOTALL)
_DUMPED = re.compile(
    r"(?<!\")\{\{\s*([A-Za-z_][\w.]*)\s*\|\s*(?:dump|tojson)(?:\s*\|\s*safe)?\s*\}\}"
)
_SHOWN = 60
# Columns that a dataset or the asserts of a row need for themselves.
RENAMED: Mapping[str, str] = {"id": "id_", "split": "split_", "assert": "assert_"}
_NAMES = re.compile(r"\{\{\s*(id|split|assert)(?=[\s.}])")
_FILES = (".txt", ".md", ".json", ".jsonl", ".j2", ".csv", *YAML)
_PARTED = re.compile(r"^---[ \t]*$", re.MULTILINE)
_CHAT_IN_YAML = re.compile(r"\A\s*-\s+[\"']?role[\"']?\s*:")
_MOST = 1000


def logic_in(text: str) -> str | None:
    """The first thing in a text that is more than `{{name}}`; None when there is none."""
    found = _STATEMENT.search(text)
    if found is not None:
        return _shown(found.group())
    for expression in _EXPRESSION.finditer(text):
        if not placeholders(expression.group()) or expression.group(1).strip().startswith("env."):
            return _shown(expression.group())
    return None


def with_quoted_dumps(text: str) -> str:
    """`{{x | dump}}` as `"{{x}}"`: so a chat prompt in JSON can be parsed before it is filled."""
    return _DUMPED.sub(r'"{{\1}}"', text)


def with_renamed(text: str) -> str:
    """A prompt with the names under which rows keep its variables."""
    return _NAMES.sub(lambda found: found.group()[: -len(found[1])] + RENAMED[found[1]], text)


def fill(value: Any, fields: Mapping[str, Json]) -> Any:
    """A value with the placeholders in its texts filled; a name that is not there stays as it is."""
    if isinstance(value, str):
        if "{{" not in value:
            return value
        try:
            return render(value, fields)
        except UsageError:
            return value
    if isinstance(value, Mapping):
        return {key: fill(inner, fields) for key, inner in value.items()}
    if isinstance(value, Sequence):
        return [fill(inner, fields) for inner in value]
    return value


def texts_in(value: Any) -> list[str]:
    """Every text within a value."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for inner in value.values() for text in texts_in(inner)]
    if isinstance(value, list):
        return [text for inner in value for text in texts_in(inner)]
    return []


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"


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
            findings.leave_keys(place, one, ("raw", "id", "label", "display"))
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
