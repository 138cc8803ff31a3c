"""The SHA-256 of model files, remembered: they are large and hardly ever change."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

from burnish.domain import text_hash
from burnish.models.local.pull import cache_directory, file_sha256


def model_digest(path: Path) -> str:
    """SHA-256 of the file, computed anew only when its size or its time of change differ."""
    status = path.stat()
    seen = {"path": str(path), "size": status.st_size, "modified_ns": status.st_mtime_ns}
    note = cache_directory() / "digests" / f"{text_hash(str(path))[:32]}.json"
    with contextlib.suppress(OSError, ValueError, AttributeError):
        known = json.loads(note.read_text(encoding="utf-8"))
        if {name: known.get(name) for name in seen} == seen and known.get("sha256"):
            return str(known["sha256"])
    digest = file_sha256(path)
    with contextlib.suppress(OSError):  # a note that cannot be kept costs time, nothing else
        _write(note, json.dumps({**seen, "sha256": digest}))
    return digest


def _write(note: Path, text: str) -> None:
    note.parent.mkdir(parents=True, exist_ok=True)
    part = note.with_suffix(f".{os.getpid()}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(note)
