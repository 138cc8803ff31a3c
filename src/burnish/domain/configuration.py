"""Configuration of an agent: sections, parameters, examples, and `{{name}}` placeholders."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from burnish.domain.errors import UsageError
from burnish.domain.json_values import Json, canonical_hash, normalise_json, normalise_text

_PATH = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_][A-Za-z0-9_-]*)*\Z")
_FIELDS = ("sections", "parameters", "examples")
_TEXT = "_text"
# The parameter by which a configuration names the model that answers in place of the agent's own.
MODEL = "model"

_PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]+)*)\s*\}\}")

# A word or a few between double braces on one line, which somebody means to be filled.
_BRACES = re.compile(r"\{\{[ \t]*\w[^{}\n]{0,60}\}\}")


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """Settings an agent runs under. Text is normalised on the way in, so equal hashes run alike.

    Build it with `Configuration.of`, which checks and normalises. The order of sections is kept
    for display and has no part in the hash.
    """

    sections: Mapping[str, str]
    parameters: Mapping[str, Json] = field(default_factory=dict)
    # A plain default would stand in the class, where a stored configuration's would be found.
    examples: tuple[Mapping[str, Json], ...] = field(default_factory=tuple)

    @classmethod
    def of(cls, value: Configuration | Mapping[str, Any]) -> Configuration:
        """A checked configuration from its JSON form; a configuration passes through."""
        if isinstance(value, Configuration):
            return value
        if not isinstance(value, Mapping):
            raise _invalid(f"it is a {type(value).__name__}, not an object")
        for key in value:
            if key not in _FIELDS:
                raise _invalid(f"it has no field {key!r}{_hint(str(key))}", code="unknown_field")
        return cls(
            sections=_checked_sections(value.get("sections") or {}),
            parameters=_checked_parameters(value.get("parameters") or {}),
            examples=_checked_examples(value.get("examples") or ()),
        )

    @classmethod
    def stored(cls, text: str) -> Configuration:
        """From the text of the JSON form of one that was checked before.

        The text is read when a field is first asked for: most of a long list are never looked into.
        """
        made = object.__new__(cls)
        object.__setattr__(made, _TEXT, text)
        return made

    if not TYPE_CHECKING:  # For a type checker every name would be an attribute.

        def __getattr__(self, name: str) -> Any:
            own = self.__dict__
            if name in _FIELDS and (text := own.get(_TEXT)) is not None:
                document = json.loads(text)
                own.update({**document, "examples": tuple(document["examples"])})
                # Last, so that another thread finds the text or the fields.
                own.pop(_TEXT, None)
            if name in _FIELDS and name in own:
                return own[name]
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @cached_property
    def hash(self) -> str:
        """The canonical hash: what deduplication and caches go by."""
        return canonical_hash(self.to_json())

    @cached_property
    def placeholders(self) -> frozenset[str]:
        """Every placeholder of every section."""
        return frozenset(name for text in self.sections.values() for name in placeholders(text))

    def to_json(self) -> dict[str, Any]:
        """The JSON form that `of` reads."""
        return {
            "sections": dict(self.sections),
            "parameters": dict(self.parameters),
            "examples": [dict(example) for example in self.examples],
        }

    def with_sections(self, changes: Mapping[str, str]) -> Configuration:
        """The same configuration with some sections replaced or added."""
        return replace(self, sections={**self.sections, **_checked_sections(changes)})

    @property
    def model(self) -> str | None:
        """The model that it names; None where the agent's own answers."""
        named = self.parameters.get(MODEL)
        return named if isinstance(named, str) else None

    def naming(self, model: str | None) -> Configuration:
        """The same, with the model's name in it where it has none; None adds none."""
        if model is None or MODEL in self.parameters:
            return self
        return replace(self, parameters={**self.parameters, MODEL: model})

    def same_as(self, other: Configuration, model: str | None) -> bool:
        """Whether both run alike where `model` answers for what names none."""
        return self.naming(model).hash == other.naming(model).hash


def _checked_sections(value: Any) -> dict[str, str]:
    if isinstance(value, str):
        value = {"system": value}
    if not isinstance(value, Mapping):
        raise _invalid(f"`sections` is a {type(value).__name__}, not an object of texts")
    checked: dict[str, str] = {}
    for path, text in value.items():
        if not isinstance(path, str) or not _PATH.match(path):
            raise _invalid(
                f"{path!r} is not a section path: letters, digits, _ and -, parted by dots"
            )
        if not isinstance(text, str):
            raise _invalid(f"the section {path!r} is a {type(text).__name__}, not text")
        checked[path] = normalise_text(text)
    return checked


def _checked_parameters(value: Any) -> dict[str, Json]:
    if not isinstance(value, Mapping):
        raise _invalid(f"`parameters` is a {type(value).__name__}, not an object")
    normalised = normalise_json(value, where="$.parameters")
    assert isinstance(normalised, dict)
    return normalised


def _checked_examples(value: Any) -> tuple[Mapping[str, Json], ...]:
    if isinstance(value, (str, Mapping)) or not isinstance(value, Sequence):
        raise _invalid(f"`examples` is a {type(value).__name__}, not a list of objects")
    checked: list[Mapping[str, Json]] = []
    for index, example in enumerate(value):
        if not isinstance(example, Mapping):
            raise _invalid(f"example {index} is a {type(example).__name__}, not an object")
        normalised = normalise_json(example, where=f"$.examples[{index}]")
        assert isinstance(normalised, dict)
        checked.append(normalised)
    return tuple(checked)


def _hint(key: str) -> str:
    close = difflib.get_close_matches(key, _FIELDS, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _invalid(why: str, code: str = "invalid_configuration") -> UsageError:
    return UsageError(
        what="the configuration cannot be used",
        why=why,
        fix='write {"sections": {"system": "…"}, "parameters": {…}, "examples": […]}',
        code=code,
    )


def placeholders(text: str) -> tuple[str, ...]:
    """Names in order of first appearance, each once."""
    return tuple(dict.fromkeys(_PLACEHOLDER.findall(text)))


def malformed_placeholders(text: str) -> tuple[str, ...]:
    """What stands in double braces like a placeholder and is none, each once."""
    spans = dict.fromkeys(match.group(0) for match in _BRACES.finditer(text))
    return tuple(one for one in spans if not _PLACEHOLDER.fullmatch(one))


def render(text: str, fields: Mapping[str, Json]) -> str:
    """Each placeholder replaced by its field; a value that holds `{{…}}` is left as it is."""
    return _PLACEHOLDER.sub(lambda match: _as_text(lookup(fields, match.group(1))), text)


def lookup(fields: Mapping[str, Json], name: str) -> Json:
    """A field by its name, or by a dotted path into nested objects."""
    if name in fields:
        return fields[name]
    value: Any = fields
    for part in name.split("."):
        if not isinstance(value, Mapping) or part not in value:
            raise UsageError(
                what=f"the placeholder {{{{{name}}}}} cannot be filled",
                why="the item has no such field; it has " + (", ".join(sorted(fields)) or "none"),
                fix="rename the placeholder or add the column to the dataset",
                code="placeholder_unknown",
            )
        value = value[part]
    return value  # type: ignore[no-any-return]


def _as_text(value: Json) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False)
