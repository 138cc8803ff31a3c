"""Picture cells of dataset rows: where a picture is, of which kind, and its content by hash.

A cell names a file or holds a data URL. As an object of three it says what it is wherever it goes,
and other content makes another item.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from burnish.domain.json_values import Json
from burnish.domain.models import Message, Picture

_KEYS = frozenset({"picture", "media_type", "sha256"})


@dataclass(frozen=True, slots=True)
class PictureCell:
    """One picture of a row; `source` is a path relative to the dataset's folder, or a data URL."""

    source: str
    media_type: str
    sha256: str

    def to_json(self) -> dict[str, Json]:
        """As it stands in the row."""
        return {"picture": self.source, "media_type": self.media_type, "sha256": self.sha256}

    @property
    def label(self) -> str:
        """What a text says in its place."""
        return "[picture]" if self.source.startswith("data:") else f"[picture {self.source}]"


def picture_cells(value: Json) -> tuple[PictureCell, ...]:
    """The pictures of a value, one or a list; nothing where it holds anything else."""
    listed = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    cells = [_cell(one) for one in listed]
    return tuple(one for one in cells if one) if cells and all(cells) else ()


def without_pictures(value: Json) -> Json:
    """The value, or words in place of pictures: bytes are nothing to read."""
    cells = picture_cells(value)
    return " ".join(one.label for one in cells) if cells else value


def picture_words(pictures: Mapping[str, Sequence[Picture]]) -> dict[str, Json]:
    """What a placeholder of a picture's column says: which of the pictures it is, from 1."""
    words: dict[str, Json] = {}
    number = 0
    for column, many in pictures.items():
        words[column] = " ".join(f"[picture {number + place + 1}]" for place in range(len(many)))
        number += len(many)
    return words


def with_pictures(
    messages: Sequence[Message], pictures: Mapping[str, Sequence[Picture]]
) -> tuple[Message, ...]:
    """The messages, with all pictures in the first one of the user."""
    every = tuple(one for many in pictures.values() for one in many)
    if not every:
        return tuple(messages)
    at = next((place for place, one in enumerate(messages) if one.role == "user"), None)
    if at is None:
        return (*messages, Message("user", "", pictures=every))
    return (*messages[:at], replace(messages[at], pictures=every), *messages[at + 1 :])


def _cell(value: Json) -> PictureCell | None:
    if not isinstance(value, Mapping) or value.keys() != _KEYS:
        return None
    told = [value[name] for name in ("picture", "media_type", "sha256")]
    return PictureCell(*map(str, told)) if all(isinstance(one, str) for one in told) else None
