"""The form in which a tag is kept: one JSON document with a version.

{"format": "burnish.override", "version": 1, "revision": "…",
 "sections": {"system": {"expected_hash": "…", "body": "…"}},
 "parameters": null, "examples": null}
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from burnish.domain import UsageError, require_json
from burnish.overrides.names import TagAddress
from burnish.overrides.override import PromptOverride, SectionOverride

FORMAT = "burnish.override"
VERSION = 1
LARGEST_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class TagDocument:
    """What is kept under a tag. Each change gives it another revision."""

    override: PromptOverride
    revision: str


class _DamagedError(Exception):
    """Why a document cannot be read."""


def encode(document: TagDocument) -> bytes:
    """The bytes to keep; equal documents have equal bytes."""
    override = document.override
    value = {
        "format": FORMAT,
        "version": VERSION,
        "revision": document.revision,
        "sections": {
            path: {"expected_hash": one.expected_hash, "body": one.body}
            for path, one in override.sections.items()
        },
        "parameters": override.parameters,
        "examples": override.examples,
    }
    checked = require_json(value)
    try:
        text = json.dumps(checked, ensure_ascii=False, sort_keys=True, indent=1, allow_nan=False)
        data = text.encode("utf-8")
    except UnicodeEncodeError:
        raise _unfit(override.address, "a text holds half of a surrogate pair") from None
    if len(data) > LARGEST_BYTES:
        why = f"it has {len(data):,} bytes; at most {LARGEST_BYTES:,} are kept under a tag"
        raise _unfit(override.address, why)
    return data


def decode(data: bytes, address: TagAddress, where: str) -> TagDocument:
    """The document of a tag; `where` is named when it cannot be read."""
    try:
        return _document(_value(data), address)
    except _DamagedError as error:
        why = str(error)
    raise UsageError(
        what=f"the tag {address} cannot be read",
        why=f"{where} is damaged: {why}",
        fix="restore it from a backup, or delete the tag and make it again",
        code="damaged_override",
    )


def _value(data: bytes) -> Mapping[str, Any]:
    if len(data) > LARGEST_BYTES:
        raise _DamagedError(f"it has {len(data):,} bytes")
    try:
        value = json.loads(data.decode("utf-8"), parse_constant=_refuse_constant)
    except UnicodeDecodeError:
        raise _DamagedError("it is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise _DamagedError(f"it is not JSON (line {error.lineno}: {error.msg})") from None
    except (ValueError, RecursionError):
        raise _DamagedError("it is not JSON") from None
    if not isinstance(value, Mapping) or value.get("format") != FORMAT:
        raise _DamagedError("it is not an override")
    return value


def _document(value: Mapping[str, Any], address: TagAddress) -> TagDocument:
    if value.get("version") != VERSION:
        raise UsageError(
            what=f"the tag {address} cannot be read",
            why=f"its document has version {value.get('version')!r}; this Burnish knows {VERSION}",
            fix="upgrade this Burnish, or delete the tag and make it again",
            code="unknown_version",
        )
    sections, parameters, examples = (
        value.get(name) for name in ("sections", "parameters", "examples")
    )
    if not isinstance(sections, Mapping):
        raise _DamagedError("it has no sections")
    if not isinstance(parameters, Mapping | None):
        raise _DamagedError("its parameters are no object")
    if not isinstance(examples, list | None) or not all(
        isinstance(one, Mapping) for one in examples or ()
    ):
        raise _DamagedError("its examples are no list of objects")
    return TagDocument(
        revision=_text(value, "revision"),
        override=PromptOverride(
            namespace=address.prompt.namespace,
            key=address.prompt.key,
            tag=address.tag,
            sections={path: _section(path, one) for path, one in sections.items()},
            parameters=parameters,
            examples=None if examples is None else tuple(examples),
        ),
    )


def _section(path: str, value: Any) -> SectionOverride:
    if not isinstance(value, Mapping):
        raise _DamagedError(f"its section {path!r} is no object")
    return SectionOverride(
        path=path, expected_hash=_text(value, "expected_hash"), body=_text(value, "body")
    )


def _text(value: Mapping[str, Any], name: str) -> str:
    found = value.get(name)
    if not isinstance(found, str):
        raise _DamagedError(f"{name!r} is no text")
    return found


def _refuse_constant(name: str) -> None:
    raise _DamagedError(f"{name} is no JSON number")


def _unfit(address: TagAddress, why: str) -> UsageError:
    return UsageError(
        what=f"the tag {address} cannot be kept",
        why=why,
        fix="shorten or clean the texts",
        code="unfit_override",
    )
