"""What a compression is made of: edits of sections, and the promise of a strategy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from burnish.domain import Configuration, placeholders, text_hash
from burnish.models import count_tokens

DEFAULT_MIN_TOKENS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionEdit:
    """A shorter text for one section. `original_hash` is of the text that it replaces."""

    path: str
    original_hash: str
    proposed_body: str
    original_tokens: int
    proposed_tokens: int
    strategy: str
    strength: str

    @property
    def token_reduction(self) -> int:
        """What it saves."""
        return self.original_tokens - self.proposed_tokens

    @property
    def name(self) -> str:
        """Unique among the edits of a run."""
        return f"{self.path}/{self.strategy}-{self.strength}"

    def to_json(self) -> dict[str, Any]:
        """For an optimizer's state."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> SectionEdit:
        """From its JSON form."""
        return cls(**value)


class CompressStrategy(Protocol):
    """Proposes shorter texts for the sections of a prompt, mostly several strengths of each.

    Largest sections first; sections below `min_section_tokens` are left alone. Every text has all
    placeholders of the one that it replaces, and fewer tokens.
    """

    name: str
    min_section_tokens: int

    async def propose(
        self, configuration: Configuration, paths: Sequence[str]
    ) -> Sequence[SectionEdit]:
        """Edits of these sections."""
        ...


def worthwhile(
    path: str, text: str, shorter: Iterable[tuple[str, str]], *, strategy: str
) -> list[SectionEdit]:
    """Edits of those (strength, text) that keep every placeholder and save tokens, each text once."""
    before, seen = count_tokens(text), {text}
    found: list[SectionEdit] = []
    for strength, body in shorter:
        after = count_tokens(body)
        kept = set(placeholders(body)) == set(placeholders(text))
        if body in seen or not body.strip() or not kept or after >= before:
            continue
        seen.add(body)
        found.append(
            SectionEdit(
                path=path,
                original_hash=text_hash(text),
                proposed_body=body,
                original_tokens=before,
                proposed_tokens=after,
                strategy=strategy,
                strength=strength,
            )
        )
    return found


def largest_first(
    configuration: Configuration, paths: Sequence[str], min_section_tokens: int
) -> list[tuple[str, str]]:
    """The sections that are worth the effort, with their texts."""
    sized = [(count_tokens(configuration.sections[path]), path) for path in paths]
    order = sorted((-tokens, path) for tokens, path in sized if tokens >= min_section_tokens)
    return [(path, configuration.sections[path]) for _, path in order]
