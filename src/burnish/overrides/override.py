"""Override of a prompt under a tag: its values, what of it fits, and its stored JSON form."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from burnish.domain import (
    Configuration,
    ConflictError,
    Json,
    Overlay,
    UsageError,
    require_json,
    text_hash,
)
from burnish.overrides.descriptor import PromptDescriptor
from burnish.overrides.names import PromptAddress, TagAddress

FORMAT = "burnish.override"
VERSION = 1
LARGEST_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionOverride:
    """Another text for one section.

    `expected_hash` is the SHA-256 of the section's raw text when the override was made: once the
    text has changed, the override is stale.
    """

    path: str
    expected_hash: str
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptOverride:
    """What a tag changes of a prompt; parameters and examples that are None stay as they are."""

    namespace: str
    key: str
    tag: str
    sections: Mapping[str, SectionOverride] = field(default_factory=dict)
    parameters: Mapping[str, Json] | None = None
    examples: tuple[Mapping[str, Json], ...] | None = None

    @classmethod
    def of(
        cls, descriptor: PromptDescriptor, tag: str, overrides: Iterable[SectionOverride] = ()
    ) -> PromptOverride:
        """Sections of a described prompt."""
        return cls(
            namespace=descriptor.namespace,
            key=descriptor.key,
            tag=tag,
            sections={override.path: override for override in overrides},
        )

    @classmethod
    def of_overlay(cls, descriptor: PromptDescriptor, tag: str, overlay: Overlay) -> PromptOverride:
        """An overlay of the described prompt, with the hashes of the texts that it replaces."""
        made = cls.of(
            descriptor,
            tag,
            (
                SectionOverride(
                    path=path, expected_hash=descriptor.section(path).content_hash, body=body
                )
                for path, body in overlay.sections.items()
            ),
        )
        return replace(made, parameters=overlay.parameters, examples=overlay.examples)

    @property
    def address(self) -> TagAddress:
        """Where it is kept."""
        return PromptAddress(self.namespace, self.key).tag(self.tag)

    @property
    def overlay(self) -> Overlay:
        """The change itself, without hashes."""
        return Overlay(
            sections={path: override.body for path, override in self.sections.items()},
            parameters=self.parameters,
            examples=self.examples,
        )

    def merged(self, other: PromptOverride) -> PromptOverride:
        """This one under what the other changes: what the other does not name stays."""
        return replace(
            self,
            sections={**self.sections, **other.sections},
            parameters=self.parameters if other.parameters is None else other.parameters,
            examples=self.examples if other.examples is None else other.examples,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleOverride:
    """An override of a text that is not there any more; `found_hash` is None for no section."""

    path: str
    expected_hash: str
    found_hash: str | None

    def __str__(self) -> str:
        if self.found_hash is None:
            return f"the prompt has no section {self.path!r} any more"
        return f"the text of the section {self.path!r} has changed since its override was made"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedOverride:
    """A tag as it fits a prompt: stale overrides are left out of `override` and named.

    `revision` changes with every write to the tag; give it as `expected` to write only what builds
    on this.
    """

    override: PromptOverride
    revision: str
    stale: tuple[StaleOverride, ...] = ()

    @property
    def sections(self) -> Mapping[str, SectionOverride]:
        """The overrides that fit, by path."""
        return self.override.sections

    def apply(self, configuration: Configuration) -> Configuration:
        """The configuration under the tag; it must be the one that was described."""
        for path, override in self.sections.items():
            text = configuration.sections.get(path)
            if text is None or text_hash(text) != override.expected_hash:
                raise ConflictError(
                    what=f"the tag {self.override.tag} cannot be applied",
                    why=f"its section {path!r} was resolved for another text than this "
                    "configuration has",
                    fix="resolve the tag again with the descriptor of this configuration",
                    code="stale_override",
                )
        return self.override.overlay.apply(configuration)


def fit(override: PromptOverride, descriptor: PromptDescriptor, revision: str) -> ResolvedOverride:
    """What of a tag fits a prompt as it is now."""
    hashes = descriptor.hashes
    return ResolvedOverride(
        override=replace(
            override,
            sections={
                path: one
                for path, one in override.sections.items()
                if hashes.get(path) == one.expected_hash
            },
        ),
        revision=revision,
        stale=tuple(
            StaleOverride(path=path, expected_hash=one.expected_hash, found_hash=hashes.get(path))
            for path, one in override.sections.items()
            if hashes.get(path) != one.expected_hash
        ),
    )


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
