"""Page of environment variables: every one that the source reads."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.house import House
from tests.reference.codes import WORDS
from tests.reference.markdown import table

from burnish.config.settings import _TABLES

_VARIABLE = re.compile(r"\"(_?(?:BURNISH|OPENAI|OPIK|RAY|XDG|AWS)_[A-Z_]*[A-Z]|COLUMNS)\"")
# Codes of errors, which only look like variables.
_NO_VARIABLES = {"OPENAI_REFUSED", "OPENAI_TIMEOUT", "OPENAI_UNAVAILABLE"}


def made(_: str) -> str:
    """The variables in the order of their words."""
    rows = [[f"`{name}`", words] for name, words in WORDS["environment"].items()]
    return table(["variable", "what it does"], rows)


def variables() -> set[str]:
    """Variables that the source names, and those that set a key of a table."""
    return {*_named(), *(f"BURNISH_{one.upper()}_KEY" for one in _TABLES)} - _NO_VARIABLES


def undescribed() -> list[str]:
    """Variables without a word."""
    return sorted(variables() - set(WORDS["environment"]))


def _named() -> Iterator[str]:
    for module in House().modules.values():
        yield from _VARIABLE.findall(module.text)
