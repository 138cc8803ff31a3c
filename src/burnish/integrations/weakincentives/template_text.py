"""`${name}` of string.Template and our `{{name}}`: each as the other, with nothing gained or lost."""

from __future__ import annotations

import re
from string import Template

from burnish.domain.placeholders import placeholders

_OURS = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]+)*)\s*\}\}")


def from_template(text: str) -> str | None:
    """Our text for a template's; None where it has no exact one.

    That is a template with a `$` that means nothing, which cannot be rendered, and one with literal
    text that would read as a placeholder of ours.
    """
    parts: list[str] = []
    names: list[str] = []
    end = 0
    for found in Template.pattern.finditer(text):
        name = found.group("named") or found.group("braced")
        if name is None and found.group("escaped") is None:
            return None
        if name is not None:
            names.append(name)
        parts += [text[end : found.start()], "$" if name is None else f"{{{{{name}}}}}"]
        end = found.end()
    ours = "".join([*parts, text[end:]])
    # Literal braces around a placeholder may pair up with its own, and literal {{x}} would be one.
    return ours if _pieces(to_template(ours)) == _pieces(text) else None


def to_template(text: str) -> str:
    """The template's text for ours: placeholders in braces, every other `$` doubled."""
    parts: list[str] = []
    end = 0
    for found in _OURS.finditer(text):
        parts += [text[end : found.start()].replace("$", "$$"), f"${{{found.group(1)}}}"]
        end = found.end()
    return "".join([*parts, text[end:].replace("$", "$$")])


def names_in(text: str) -> frozenset[str]:
    """The placeholders of our text."""
    return frozenset(placeholders(text))


def _pieces(template: str) -> list[tuple[bool, str]]:
    """What a template says: literal text and names, whichever way they are written."""
    pieces: list[tuple[bool, str]] = []
    literal, end = "", 0
    for found in Template.pattern.finditer(template):
        literal += template[end : found.start()]
        end = found.end()
        name = found.group("named") or found.group("braced")
        if name is None:
            literal += "$"
            continue
        pieces += [(False, literal), (True, name)]
        literal = ""
    return [*pieces, (False, literal + template[end:])]
