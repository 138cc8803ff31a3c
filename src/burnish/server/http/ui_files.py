"""The built web UI as files in memory: found once, packed once, noticed when they are built anew."""

from __future__ import annotations

import hashlib
import mimetypes
import zlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

INDEX = "/index.html"
ASSETS = "/assets/"
_PACKED = ("text/", "application/json", "image/svg+xml", "application/wasm")
_PACKED_SUFFIX = ".gz"
_WORTH_PACKING = 1_000
_GZIP_WINDOW = 31
# Not from the system's tables, in which a script may have become plain text.
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}


@dataclass(frozen=True)
class UiFile:
    """One file. Those in `assets` have their content's hash in the name, and never change."""

    path: str
    content: bytes
    packed_before: bytes | None = None

    @property
    def media_type(self) -> str:
        """What it is."""
        suffix = Path(self.path).suffix.lower()
        known = _TYPES.get(suffix) or mimetypes.guess_type(self.path)[0]
        return known or "application/octet-stream"

    @property
    def caching(self) -> str:
        """How long a browser may go without asking."""
        if self.path.startswith(ASSETS):
            return "public, max-age=31536000, immutable"
        return "no-cache"

    @cached_property
    def tag(self) -> str:
        """What tells two contents apart."""
        return f'"{hashlib.sha256(self.content).hexdigest()[:24]}"'

    @cached_property
    def packed(self) -> bytes | None:
        """By gzip, as the build did it or now; None where that gains nothing."""
        if self.packed_before is not None:
            return self.packed_before
        if len(self.content) < _WORTH_PACKING or not self.media_type.startswith(_PACKED):
            return None
        packer = zlib.compressobj(9, wbits=_GZIP_WINDOW)
        packed = packer.compress(self.content) + packer.flush()
        return packed if len(packed) < len(self.content) else None


class UiFiles:
    """All files of a build; none where there is no build."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, UiFile] = {}
        self._built: int | None = None

    def find(self, path: str) -> UiFile | None:
        """The file at a path of the site."""
        self._look()
        return self._files.get(path)

    @property
    def index(self) -> UiFile | None:
        """The page that all screens begin with; None where there is no build."""
        return self.find(INDEX)

    def _look(self) -> None:
        """Read a build that is new; the page is what a build writes last."""
        try:
            built = (self._folder / INDEX[1:]).stat().st_mtime_ns
        except OSError:
            self._files, self._built = {}, None
            return
        if built != self._built:
            self._files, self._built = _read(self._folder), built


def _read(folder: Path) -> dict[str, UiFile]:
    found: dict[str, UiFile] = {}
    for file in sorted(folder.rglob("*")):
        path = file.relative_to(folder).as_posix()
        hidden = any(part.startswith(".") for part in path.split("/"))
        if hidden or file.suffix == _PACKED_SUFFIX or not file.is_file():
            continue
        beside = file.with_name(file.name + _PACKED_SUFFIX)
        packed = beside.read_bytes() if beside.is_file() else None
        found[f"/{path}"] = UiFile(f"/{path}", file.read_bytes(), packed)
    return found
