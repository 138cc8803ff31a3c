"""What a compression is made of: edits of sections and of lines, and the promise of a strategy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from burnish.domain import Configuration, UsageError, placeholders, text_hash
from burnish.models import count_tokens
from burnish.optimizers.compress_units import split_units

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """One choice of a search: a whole section's other text, or one line of it less.

    A line's cut is of the text under `base`, the name of the section's accepted edit or nothing.
    """

    name: str
    path: str
    saving: int
    body: str = ""
    base: str = ""
    unit: int | None = None

    def describe(self) -> str:
        """In words."""
        if self.unit is None:
            return f"{self.name.partition('/')[2]} of {self.path} (−{self.saving} tokens)"
        return f"line {self.unit + 1} of {self.path} out (−{self.saving} tokens)"


def section_cuts(edits: Iterable[SectionEdit]) -> dict[str, list[Cut]]:
    """The choices of each section, the largest saving first."""
    found: dict[str, list[Cut]] = {}
    for edit in edits:
        cut = Cut(
            name=edit.name, path=edit.path, saving=edit.token_reduction, body=edit.proposed_body
        )
        found.setdefault(edit.path, []).append(cut)
    return {
        path: sorted(cuts, key=lambda one: (-one.saving, one.name)) for path, cuts in found.items()
    }


def line_cuts(path: str, text: str, base: str) -> list[Cut]:
    """One cut for each line that may go: those with placeholders stay, and so does the last."""
    units = split_units(text)
    if len(units) < 2:
        return []
    whole = count_tokens(text)
    found = []
    for index, unit in enumerate(units):
        left = "".join(one.text + one.tail for n, one in enumerate(units) if n != index)
        saving = whole - count_tokens(left.rstrip())
        if saving > 0 and not placeholders(unit.text):
            cut = Cut(
                name=f"{path}#{base}#{index}", path=path, saving=saving, base=base, unit=index
            )
            found.append(cut)
    return found


def build(baseline: Configuration, cuts: Iterable[Cut]) -> Configuration | None:
    """The baseline under some cuts; None where they leave nothing of a section."""
    bodies: dict[str, str] = {}
    gone: dict[str, set[int]] = {}
    for cut in cuts:
        if cut.unit is None:
            bodies[cut.path] = cut.body
        else:
            gone.setdefault(cut.path, set()).add(cut.unit)
    for path, indexes in gone.items():
        units = split_units(bodies.get(path, baseline.sections[path]))
        left = [unit for index, unit in enumerate(units) if index not in indexes]
        bodies[path] = "".join(unit.text + unit.tail for unit in left).rstrip()
        if not bodies[path].strip():
            return None
    return baseline.with_sections(bodies)


def require_sections(baseline: Configuration, paths: Sequence[str]) -> None:
    """Refuse names of sections that are not there."""
    for path in paths:
        if path not in baseline.sections:
            raise UsageError(
                what=f"the section {path!r} cannot be compressed",
                why="the prompt has no such section",
                fix=f"use one of {', '.join(baseline.sections)}",
                code="unknown_section",
            )
