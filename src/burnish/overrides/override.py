"""What a tag holds, and what of it fits a prompt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from burnish.domain import Configuration, ConflictError, Json, Overlay, text_hash
from burnish.overrides.descriptor import PromptDescriptor
from burnish.overrides.names import PromptAddress, TagAddress


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
