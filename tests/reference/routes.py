"""Page of the HTTP API: a table of routes, from docs/openapi.json."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.reference.markdown import table

OPENAPI = Path(__file__).parents[2] / "docs" / "openapi.json"


class Route(NamedTuple):
    """One method of one path."""

    tag: str
    method: str
    path: str
    words: str


def made(_: str) -> str:
    """The routes by tag."""
    by_tag: dict[str, list[Route]] = defaultdict(list)
    for route in every_route():
        by_tag[route.tag].append(route)
    parts = []
    for tag, routes in by_tag.items():
        rows = [[f"`{one.method}`", f"`{one.path}`", one.words] for one in routes]
        parts += [f"## {tag}\n", table(["method", "path", "what it does"], rows)]
    return "\n".join(parts)


def every_route() -> Iterator[Route]:
    """The routes in the order of the file."""
    paths: dict[str, Any] = json.loads(OPENAPI.read_text(encoding="utf-8"))["paths"]
    for path, methods in paths.items():
        for method, one in methods.items():
            words = one.get("description") or one.get("summary", "")
            tag = (one.get("tags") or ["other"])[0]
            yield Route(tag, method.upper(), path, words.split("\n\n")[0])
