"""Message types: bodies as JSON of declared types, each under a name and a version.

Nothing is unpickled and no class is looked up by a name from outside: what is not declared here
cannot be sent, and what arrives is checked field by field before anybody sees it.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeVar

from pydantic import PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import to_json

from burnish.domain import Json, UsageError, require_json
from burnish.domain.mailboxes import DeadLetter

T = TypeVar("T")

MAX_BODY_BYTES = 1024 * 1024
_DEAD_LETTER = "burnish.dead-letter"
_NAME = re.compile(r"[a-z][a-z0-9._-]{0,63}")
_FIELD = re.compile(r"field_name='([^']*)'")


class Packed(NamedTuple):
    """A body as it travels."""

    type: str
    version: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class JsonMessage:
    """Plain JSON as a message: for loops of your own that need no type."""

    data: Json


class UndecodableError(Exception):
    """Why a body cannot be read; it becomes the explanation of a dead letter."""


class MessageTypes:
    """Which types may travel. Types that declare nothing else are read and written by pydantic,
    which knows dataclasses and the types of the standard library; `dump` and `load` are for those
    that have a JSON form of their own."""

    def __init__(self, *, max_bytes: int = MAX_BODY_BYTES) -> None:
        self._max_bytes = max_bytes
        self._by_kind: dict[type[Any], _Declared] = {}
        self._by_name: dict[tuple[str, int], _Declared] = {}
        self.declare(DeadLetter, _DEAD_LETTER)
        self.declare(
            JsonMessage,
            "burnish.json",
            dump=lambda message: message.data,
            load=lambda value: JsonMessage(require_json(value)),
        )

    def declare(
        self,
        kind: type[T],
        name: str,
        *,
        version: int = 1,
        dump: Callable[[T], Any] | None = None,
        load: Callable[[Any], T] | None = None,
    ) -> None:
        """Let a type travel. One that changes in a way old readers cannot bear gets a new version."""
        if not _NAME.fullmatch(name) or version < 1 or (dump is None) != (load is None):
            raise UsageError(
                what=f"{kind.__name__} cannot be declared as {name!r} version {version}",
                why="a name has lower-case letters, digits, dots, dashes and underscores; versions "
                "count from 1; dump and load go together",
                fix="correct the declaration",
                code="invalid_message_type",
            )
        taken = self._by_name.get((name, version))
        if taken is not None and _place(taken.kind) != _place(kind):
            raise UsageError(
                what=f"{kind.__name__} cannot be declared as {name!r} version {version}",
                why=f"{taken.kind.__name__} has that name and version",
                fix="choose another name, or the next version",
                code="message_type_taken",
            )
        declared = _Declared(kind, name, version, dump, load)
        self._by_name[name, version] = declared
        # The newest version is what new messages are written in.
        latest = self._by_kind.get(kind)
        if latest is None or latest.version <= version:
            self._by_kind[kind] = declared

    def encode(self, body: object) -> Packed:
        """A body in the form that travels, or UsageError."""
        declared = self._by_kind.get(type(body))
        if declared is None:
            raise UsageError(
                what=f"a {type(body).__name__} cannot be sent",
                why="its type is not declared as a message",
                fix="send plain JSON as JsonMessage(data), or declare a type with "
                "@message_type(name) or MessageTypes.declare",
                code="undeclared_message_type",
            )
        try:
            payload = declared.write(body)
        except (ValueError, RecursionError) as error:
            raise _unwritable(declared.name, _what_is_wrong(error)) from None
        if len(payload) > self._max_bytes and declared.name != _DEAD_LETTER:
            raise UsageError(
                what=f"a message of type {declared.name} cannot be sent",
                why=f"it has {len(payload):,} bytes, and {self._max_bytes:,} are allowed",
                fix="send fewer items a message, or a reference to stored data",
                code="message_too_large",
            )
        return Packed(declared.name, declared.version, payload)

    def decode(self, packed: Packed) -> Any:
        """The body again, or UndecodableError, whatever the bytes are."""
        declared = self._by_name.get((packed.type, packed.version))
        if declared is None:
            raise UndecodableError(self._unknown(packed.type, packed.version))
        if len(packed.payload) > self._max_bytes and packed.type != _DEAD_LETTER:
            raise UndecodableError(
                f"it has {len(packed.payload):,} bytes, and {self._max_bytes:,} are allowed"
            )
        try:
            return declared.read(packed.payload)
        except ValidationError as error:
            raise UndecodableError(_first_problem(error)) from None
        except Exception as error:  # A type's own checks may raise anything.
            raise UndecodableError(f"{type(error).__name__} while it was read") from error

    def _unknown(self, name: str, version: int) -> str:
        versions = [str(known) for type_, known in self._by_name if type_ == name]
        if versions:
            return f"type {name} is known in version {', '.join(versions)}, not {version}"
        return f"type {name[:64]!r} is not declared"


@dataclass(eq=False)
class _Declared:
    """How one type is written and read."""

    kind: type[Any]
    name: str
    version: int
    dump: Callable[[Any], Any] | None
    load: Callable[[Any], Any] | None

    @cached_property
    def _adapter(self) -> TypeAdapter[Any]:
        # On first use: the types it names may come after it.
        try:
            adapter = TypeAdapter(self.kind)
            adapter.rebuild()
        except (PydanticUserError, RecursionError) as error:
            raise UsageError(
                what=f"{self.kind.__name__} cannot travel as a message",
                why="pydantic cannot make out the types of its fields",
                fix="declare it with dump= and load=",
                code="invalid_message_type",
            ) from error
        return adapter

    def write(self, body: object) -> bytes:
        if self.dump is not None:
            return json.dumps(
                require_json(self.dump(body)), ensure_ascii=False, separators=(",", ":")
            ).encode()
        payload: bytes = self._adapter.serializer.to_json(body, warnings="error")
        # Numbers that JSON lacks are written as null: that would be another message.
        if b"null" in payload and _holds_non_finite(body):
            raise _unwritable(self.name, "it holds a number that is infinite or not a number")
        return payload

    def read(self, payload: bytes) -> Any:
        if self.load is not None:
            return self.load(json.loads(payload))
        return self._adapter.validator.validate_json(payload, strict=True, extra="forbid")


MESSAGE_TYPES = MessageTypes()
"""The types that mailboxes know unless they are given others."""


def message_type(name: str, *, version: int = 1) -> Callable[[type[T]], type[T]]:
    """Declare a dataclass as a message: `@message_type("eval-request")`."""

    def declare(kind: type[T]) -> type[T]:
        MESSAGE_TYPES.declare(kind, name, version=version)
        return kind

    return declare


def _holds_non_finite(body: object) -> bool:
    return to_json(body, inf_nan_mode="constants") != to_json(body, inf_nan_mode="null")


def _place(kind: type[Any]) -> tuple[str, str]:
    return kind.__module__, kind.__qualname__


def _unwritable(name: str, why: str) -> UsageError:
    return UsageError(
        what=f"a message of type {name} cannot be sent",
        why=why,
        fix="give its fields values of their declared types",
        code="unencodable_message",
    )


def _what_is_wrong(error: Exception) -> str:
    """The fields alone: values may hold what must not stand in an error."""
    fields = _FIELD.findall(str(error))
    if fields:
        return f"the field {fields[0]} holds a value of another type than declared"
    if isinstance(error, UnicodeEncodeError) or "UnicodeEncodeError" in str(error):
        return "it holds text that is not valid Unicode"
    return "it holds something that JSON cannot say"


def _first_problem(error: ValidationError) -> str:
    problem = error.errors(include_input=False, include_url=False)[0]
    place = ".".join(str(step) for step in problem["loc"])
    return f"{place}: {problem['msg']}" if place else problem["msg"]


def dead_letter(
    mailbox: str,
    message_id: str,
    packed: Packed,
    *,
    reply_to: str | None,
    delivery_count: int,
    explanation: str | None,
) -> DeadLetter:
    """The letter for a body as it stood; without an explanation it was delivered too often."""
    payload, encoding = _as_text(packed.payload)
    return DeadLetter(
        mailbox=mailbox,
        message_id=message_id,
        reason="too_many_deliveries" if explanation is None else "undecodable",
        explanation=explanation or f"it came back after {delivery_count} deliveries",
        delivery_count=delivery_count,
        type=packed.type,
        version=packed.version,
        payload=payload,
        encoding=encoding,
        reply_to=reply_to,
    )


def packed_body(letter: DeadLetter) -> Packed:
    """The body again as it travelled, for whoever wants to decode or send it once more."""
    raw = letter.payload.encode()
    return Packed(
        letter.type, letter.version, base64.b64decode(raw) if letter.encoding == "base64" else raw
    )


def _as_text(payload: bytes) -> tuple[str, Literal["utf-8", "base64"]]:
    try:
        return payload.decode(), "utf-8"
    except UnicodeDecodeError:
        return base64.b64encode(payload).decode(), "base64"
