"""Serves the web UI: its files without a key, since they hold nothing, and everything else not at all.

A screen has a path of its own, which the server does not know: whatever a browser wants to show
as a page, and is no part of the API, begins with the same page.
"""

from __future__ import annotations

from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from burnish.server.http.errors import error_response
from burnish.server.http.ready_json import takes_gzip
from burnish.server.http.ui_files import ASSETS, UiFile, UiFiles
from burnish.server.images.paths import FIRST_PARTS

BUILT_UI = Path(__file__).parents[1] / "ui_dist"
_READS = ("GET", "HEAD")
_API = ("v1", "planar", "api", "health", "metrics", "docs", "openapi.json", *FIRST_PARTS)
UI_POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; style-src 'self'; connect-src 'self'; "
    "object-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)


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
