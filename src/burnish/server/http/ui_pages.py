"""Web UI: its built files in memory, and which requests get them.

Files are served without a key, since they hold nothing. A screen has a path of its own, which the
server does not know: whatever a browser wants to show as a page, and is no part of the API, begins
with the same page.
"""

from __future__ import annotations

import hashlib
import mimetypes
import zlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from burnish.server.http.errors import error_response
from burnish.server.http.responses import takes_gzip
from burnish.server.images.paths import FIRST_PARTS

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
_READS = ("GET", "HEAD")
_API = ("v1", "planar", "api", "health", "metrics", "docs", "openapi.json", *FIRST_PARTS)
UI_POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; style-src 'self'; connect-src 'self'; "
    "object-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)


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


BUILT_UI = Path(__file__).parents[1] / "ui_dist"


class UiSite:
    """Which requests are for the UI, and what they get."""

    def __init__(self, folder: Path = BUILT_UI) -> None:
        self._files = UiFiles(folder)

    def takes(self, scope: Scope, headers: Headers) -> bool:
        """Whether this is for the UI. Without a build nothing is."""
        path = scope["path"]
        if scope["method"] not in _READS or self._files.index is None:
            return False
        if path == "/" or path.startswith(ASSETS) or self._files.find(path) is not None:
            return True
        return is_page(path, headers)

    def answer(self, scope: Scope, headers: Headers) -> Response:
        """A file, or the page."""
        path = scope["path"]
        found = self._files.find(path)
        if found is None and path.startswith(ASSETS):
            return error_response(
                404,
                code="unknown_file",
                message=f"there is no {path[:300]}: the web UI has no such file",
                fix="load the page anew: it may be older than the server",
            )
        shown = found or self._files.index
        assert shown is not None
        return _response(shown, headers)


class UiPages:
    """ASGI middleware: answers what is for the UI, and lets the rest through."""

    def __init__(self, app: ASGIApp, *, site: UiSite) -> None:
        self._app = app
        self._site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            if self._site.takes(scope, headers):
                await self._site.answer(scope, headers)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def is_page(path: str, headers: Headers) -> bool:
    """Whether a browser wants to show a path as a page, and it is no part of the API."""
    first = path.removeprefix("/").partition("/")[0]
    return first not in _API and "text/html" in headers.get("accept", "").lower()


def _response(file: UiFile, headers: Headers) -> Response:
    own = {
        "Cache-Control": file.caching,
        "Content-Security-Policy": UI_POLICY,
        "ETag": file.tag,
        "Vary": "Accept-Encoding",
    }
    if file.tag in headers.get("if-none-match", ""):
        return Response(status_code=304, headers=own)
    content = file.content
    if file.packed is not None and takes_gzip(headers.get("accept-encoding", "")):
        content, own["Content-Encoding"] = file.packed, "gzip"
    return Response(content, media_type=file.media_type, headers=own)
