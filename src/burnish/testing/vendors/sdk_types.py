"""Types of vendors' SDKs, by which requests are checked, loaded without the rest of the SDK."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any


def type_problem(kind: tuple[str, str], body: Mapping[str, Any]) -> str:
    """What an SDK's type says against a body, unknown fields at any depth included.

    Nothing where the SDK is not installed.
    """
    if find_spec(kind[0].partition(".")[0]) is None:
        return ""
    from pydantic import ValidationError  # noqa: PLC0415

    try:
        valid = _whole(_adapter(*kind).validate_python(body))
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return _unknown(body, valid)


@lru_cache
def _adapter(module: str, name: str) -> Any:
    from pydantic import TypeAdapter  # noqa: PLC0415

    with _bare_packages(module):
        return TypeAdapter(getattr(import_module(module), name))


@contextmanager
def _bare_packages(module: str) -> Iterator[None]:
    """Within, the packages above a module are empty: to load all of an SDK takes seconds.

    Afterwards they are gone again, so that whoever uses the SDK itself gets all of it.
    """
    top, *inner = module.split(".")[:-1]
    spec = find_spec(top)
    places = None if spec is None else spec.submodule_search_locations
    if top in sys.modules or not places:
        yield
        return
    for depth in range(len(inner) + 1):
        bare = ModuleType(".".join([top, *inner[:depth]]))
        bare.__path__ = ["/".join([places[0], *inner[:depth]])]
        sys.modules[bare.__name__] = bare
    try:
        yield
    finally:
        for name in [one for one in sys.modules if one == top or one.startswith(f"{top}.")]:
            del sys.modules[name]


def _whole(value: Any) -> Any:
    """With every lazy list read, which checks its members."""
    if isinstance(value, dict):
        return {name: _whole(inner) for name, inner in value.items()}
    if isinstance(value, (str, int, float)) or value is None:
        return value
    return [_whole(inner) for inner in value]


def _unknown(sent: Any, valid: Any, path: str = "") -> str:
    """The first field that is not in the types, which leave such out."""
    if isinstance(sent, dict) and isinstance(valid, dict):
        pairs = [(f"{path}.{name}".lstrip("."), sent[name], valid.get(name)) for name in sent]
    elif isinstance(sent, list) and isinstance(valid, list) and len(sent) == len(valid):
        pairs = [
            (f"{path}.{index}", one, other)
            for index, (one, other) in enumerate(zip(sent, valid, strict=True))
        ]
    else:
        return "" if sent == valid else f"{path}: Extra inputs are not permitted"
    return next(filter(None, (_unknown(one, other, where) for where, one, other in pairs)), "")
