"""Overrides as files in a folder, for the processes of one machine."""

from __future__ import annotations

import os

from burnish.domain import Clock
from burnish.overrides.file_documents import FileDocuments
from burnish.overrides.tag_store import TagStore


class LocalPromptOverridesStore(TagStore):
    """A PromptOverridesStore in a folder: one JSON file a tag, `FOLDER/namespace/key/tag.json`.

    A writer that waits `lock_seconds` for the others ends in UnavailableError.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        lock_seconds: float = 30.0,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(FileDocuments(folder, lock_seconds=lock_seconds, clock=clock))
