"""`python -m burnish.server.openapi FILE`: the OpenAPI as a file, for clients made from it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from burnish.server.http.app import create_app
from burnish.server.http.settings import ServerSettings


def openapi_document() -> dict[str, Any]:
    """The OpenAPI of the application, which no settings change."""
    settings = ServerSettings(config=Path("burnish.toml"), database="burnish.db")
    return create_app(settings).openapi()


def openapi_text() -> str:
    """As the file holds it."""
    return json.dumps(openapi_document(), indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Write the file."""
    Path(sys.argv[1]).write_text(openapi_text(), encoding="utf-8")


if __name__ == "__main__":
    main()
