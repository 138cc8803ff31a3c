"""Page of the Python API: every public name with its signature, words and fields."""

from __future__ import annotations

import dataclasses
import inspect
import re
import textwrap
from collections.abc import Iterator
from enum import Enum
from importlib import import_module
from typing import Any

from tests.reference.markdown import table

MODULES = (
    "burnish",
    "burnish.optimizers",
    "burnish.models",
    "burnish.overrides",
    "burnish.runtime",
)
# Defaults that are made anew for each call.
_MADE = re.compile(r"^<| at 0x")


def made(_: str) -> str:
    """Every public name."""
    parts = []
    for module in MODULES:
        parts.append(f"## {module}\n")
        parts += [_entry(name, one) for name, one in public(module)]
    return "\n".join(parts)


def public(module: str) -> Iterator[tuple[str, Any]]:
    """The public names of a module and what they are."""
    home = import_module(module)
    for name in home.__all__:
        yield name, getattr(home, name)


def undescribed() -> list[str]:
    """Names without a docstring."""
    return [
        f"{module}.{name}"
        for module in MODULES
        for name, one in public(module)
        if (inspect.isclass(one) or callable(one)) and not _own_doc(one)
    ]


def _entry(name: str, one: Any) -> str:
    if inspect.ismodule(one):
        return f"### {name}\n\nThe module below.\n"
    if not callable(one):
        return f"### {name}\n\n`{type(one).__name__}`{_constant(one)}\n"
    words = _own_doc(one)
    if inspect.isclass(one) and issubclass(one, Enum):
        return f"### {name}\n\n{words}\n\nOne of {', '.join(f'`{m.value}`' for m in one)}.\n"
    parts = [f"### {name}\n", f"```text\n{_wrapped(name + _signature(one))}\n```\n", f"{words}\n"]
    if inspect.isclass(one) and (rows := list(_methods(one))):
        parts.append(table(["member", "what it is"], rows))
    return "\n".join(parts)


def _own_doc(one: Any) -> str:
    text = inspect.getdoc(one) or ""
    # What dataclasses write by themselves says nothing.
    return "" if inspect.isclass(one) and text.startswith(f"{one.__name__}(") else text


def _constant(one: Any) -> str:
    return f" `{one!r}`" if isinstance(one, (str, int)) else ""


def _signature(one: Any) -> str:
    if getattr(one, "_is_protocol", False):
        return ""
    try:
        found = inspect.signature(one)
    except (ValueError, TypeError):
        return "(…)"
    given = list(found.parameters.values())
    shown = [_parameter(part) for part in given]
    by_name = [part.kind is part.KEYWORD_ONLY for part in given]
    if True in by_name and not any(part.kind is part.VAR_POSITIONAL for part in given):
        shown.insert(by_name.index(True), "*")
    back = "" if inspect.isclass(one) else _return(found)
    return f"({', '.join(shown)}){back}"


def _parameter(part: inspect.Parameter) -> str:
    stars = {part.VAR_POSITIONAL: "*", part.VAR_KEYWORD: "**"}.get(part.kind, "")
    kind = "" if part.annotation is part.empty else f": {_hint(part.annotation)}"
    default = "…" if _MADE.search(repr(part.default)) else repr(part.default)
    return f"{stars}{part.name}{kind}" + ("" if part.default is part.empty else f" = {default}")


def _hint(told: Any) -> str:
    return told if isinstance(told, str) else getattr(told, "__name__", str(told))


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 110, subsequent_indent="    ", break_long_words=False)


def _return(found: inspect.Signature) -> str:
    told = found.return_annotation
    return "" if told is found.empty else f" -> {_hint(told)}"


def _methods(one: type) -> Iterator[list[str]]:
    fields = (
        {field.name for field in dataclasses.fields(one)}
        if dataclasses.is_dataclass(one)
        else set()
    )
    for name, member in vars(one).items():
        if name.startswith("_") or name in fields:
            continue
        plain = getattr(member, "fget", None) or getattr(member, "__func__", member)
        if not (inspect.isfunction(plain) or isinstance(member, property)):
            continue
        words = (inspect.getdoc(plain) or "").split("\n\n")[0]
        called = "" if isinstance(member, property) else "()"
        yield [f"`{name}{called}`", words]
