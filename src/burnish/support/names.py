"""Names that requests give to things: short, and harmless wherever they come to stand."""

from __future__ import annotations

import re

from burnish.domain import UsageError

# As a JSON schema says it too, so that clients know before they ask.
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
_NAME = re.compile(NAME_PATTERN[:-1] + r"\Z")


def require_name(kind: str, name: str) -> str:
    """The name itself, if it can be one."""
    if _NAME.match(name):
        return name
    raise UsageError(
        what=f"the {kind} cannot be named {name[:100]!r}",
        why="a name has up to 100 letters, digits, dots, dashes and underscores, and begins with "
        "a letter or a digit",
        fix="choose another name",
        code="invalid_name",
    )
