"""Prompt descriptor: paths, hashes and sizes of a prompt's sections, without their texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from burnish.domain import Configuration, UsageError, text_hash
from burnish.models.tokens import count_tokens
from burnish.overrides.names import PromptAddress, safe_name
from burnish.support.hints import did_you_mean

NAMESPACE = "agents"


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionDescriptor:
    """One section: the SHA-256 of its raw text, placeholders and all, and its tokens."""

    path: str
    content_hash: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptDescriptor:
    """Names a prompt and says which text each of its sections has, in the prompt's order."""

    namespace: str
    key: str
    sections: tuple[SectionDescriptor, ...]

    def __post_init__(self) -> None:
        _ = self.address

    @classmethod
    def of(
        cls,
        configuration: Configuration | Mapping[str, Any],
        *,
        namespace: str,
        key: str,
        model: str | None = None,
    ) -> PromptDescriptor:
        """The descriptor of a configuration; tokens are counted as the model would."""
        sections = Configuration.of(configuration).sections
        return cls(
            namespace=namespace,
            key=key,
            sections=tuple(
                SectionDescriptor(
                    path=path, content_hash=text_hash(text), tokens=count_tokens(text, model)
                )
                for path, text in sections.items()
            ),
        )

    @property
    def address(self) -> PromptAddress:
        """Where the prompt's tags are kept."""
        return PromptAddress(self.namespace, self.key)

    @property
    def tokens(self) -> int:
        """Of all sections together."""
        return sum(section.tokens for section in self.sections)

    @property
    def hashes(self) -> dict[str, str]:
        """The hash of each section by its path."""
        return {section.path: section.content_hash for section in self.sections}

    def section(self, path: str) -> SectionDescriptor:
        """A section by its path."""
        for section in self.sections:
            if section.path == path:
                return section
        paths = [section.path for section in self.sections]
        hint = did_you_mean(path, paths, f"it has {', '.join(paths) or 'none'}")
        raise UsageError(
            what=f"the section {path!r} cannot be overridden",
            why=f"the prompt {self.address} has no such section",
            fix=hint,
            code="unknown_section",
        )

    def to_json(self) -> dict[str, Any]:
        """The JSON form that `from_json` reads."""
        return {
            "namespace": self.namespace,
            "key": self.key,
            "sections": [
                {"path": one.path, "content_hash": one.content_hash, "tokens": one.tokens}
                for one in self.sections
            ],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> PromptDescriptor:
        """From its JSON form, for instance out of a message."""
        try:
            return cls(
                namespace=value["namespace"],
                key=value["key"],
                sections=tuple(_section(one) for one in value["sections"]),
            )
        except (KeyError, TypeError) as error:
            raise UsageError(
                what="the prompt descriptor cannot be read",
                why=f"a field is missing or of another type ({error})",
                fix="write it with PromptDescriptor.to_json",
                code="invalid_descriptor",
            ) from None


def _section(value: Mapping[str, Any]) -> SectionDescriptor:
    path, content_hash, tokens = value["path"], value["content_hash"], value["tokens"]
    if not (isinstance(path, str) and isinstance(content_hash, str) and isinstance(tokens, int)):
        raise TypeError("a section is a path, a hash and a number of tokens")
    return SectionDescriptor(path=path, content_hash=content_hash, tokens=tokens)


def descriptor_of(
    agent_name: str, configuration: Configuration | Mapping[str, Any]
) -> PromptDescriptor:
    """The descriptor of an agent's prompt."""
    return PromptDescriptor.of(configuration, namespace=NAMESPACE, key=safe_name(agent_name))
