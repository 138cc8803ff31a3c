"""Pages of the reference by their place in docs, each with what makes its parts from the code."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.reference import (
    codes,
    commands,
    config,
    environment,
    llms,
    measured,
    optimizers,
    python_api,
    routes,
    scorers,
)
from tests.reference.markdown import filled

MAKERS: Mapping[str, Callable[[str], str]] = {
    "reference/python.md": python_api.made,
    "reference/commands.md": commands.made,
    "reference/burnish-toml.md": config.made,
    "reference/models.md": config.made,
    "reference/scorers.md": scorers.made,
    "optimizer-settings.md": optimizers.made,
    "reference/http.md": routes.made,
    "reference/codes.md": codes.made,
    "reference/environment.md": environment.made,
    "guarantees.md": measured.made,
}
INDEX = "llms.txt"
# The index last: it quotes the pages.
PAGES = (*MAKERS, INDEX)


def page(name: str) -> str:
    """A page as it is to be."""
    return llms.page() if name == INDEX else filled(name, MAKERS[name])


def undescribed() -> list[str]:
    """What the pages name without a word about it."""
    parts = (codes, commands, config, environment, optimizers, python_api)
    return [one for part in parts for one in part.undescribed()]
