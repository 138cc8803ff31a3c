"""`burnish mcp`: an MCP server for coding agents, over the HTTP API of a running `burnish serve`."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Annotated

import typer

from burnish.domain import UsageError


def mcp(
    url: Annotated[
        str, typer.Option(metavar="URL", help="Where `burnish serve` answers.")
    ] = "http://127.0.0.1:8720",
) -> None:
    """Serve a project's runs to coding agents over MCP, on stdin and stdout.

    They read runs, compare candidates and see failing items; what spends money or changes the active
    version takes two calls, the first of which shows what it comes to. The server's key, where it has
    any, is BURNISH_API_KEY.
    """
    if find_spec("mcp") is None:
        raise UsageError(
            what="the MCP server cannot be started",
            why="it works with the package mcp, which is not installed",
            fix="pip install 'burnish[mcp]'",
            code="missing_extra",
        )
    from burnish.integrations.mcp_server import make_server  # noqa: PLC0415 - slow to load

    make_server(url, os.environ.get("BURNISH_API_KEY")).run("stdio")
