"""Copies of objects that hold other objects, with some of those replaced, however deep.

What holds nothing that is replaced is shared with the original, which is never changed.
"""

from __future__ import annotations

import copy
import functools
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Key = tuple[str, Any]
Visit = Callable[[str, Any], Any]
"""From a value and its name to its replacement; None looks into it, `Skip` leaves it alone."""
_MOST_OBJECTS = 20_000
_LIBRARIES = ("langgraph", "langchain", "langchain_core", "langchain_classic")


class Skip:
    """A value that is left alone with all that it holds."""


@dataclass(eq=False)
class ObjectCopies:
    """Walks from one object through closures, the globals that functions read, and attributes."""

    visit: Visit
    _objects: dict[int, Any] = field(default_factory=dict)
    _changes: dict[int, dict[Key, Any]] = field(default_factory=dict)
    _held_by: dict[int, list[tuple[int, Key]]] = field(default_factory=dict)
    _copies: dict[int, Any] = field(default_factory=dict)

    def of(self, root: Any) -> Any:
        """The object itself where nothing in it is replaced, else a copy."""
        self._walk(root)
        for changed in list(self._changes):
            self._mark_holders(changed)
        return self._copy(root)

    def _walk(self, root: Any) -> None:
        waiting = [root]
        while waiting and len(self._objects) < _MOST_OBJECTS:
            holder = waiting.pop()
            if id(holder) in self._objects:
                continue
            self._objects[id(holder)] = holder
            for key, part in _parts(holder):
                new = self.visit(str(key[1]), part)
                if new is Skip:
                    continue
                if new is not None:
                    self._changes.setdefault(id(holder), {})[key] = new
                elif _is_walked(part):
                    self._held_by.setdefault(id(part), []).append((id(holder), key))
                    waiting.append(part)

    def _mark_holders(self, changed: int) -> None:
        waiting = [changed]
        while waiting:
            inner = waiting.pop()
            for holder, key in self._held_by.get(inner, ()):
                known = holder in self._changes
                self._changes.setdefault(holder, {}).setdefault(key, self._objects[inner])
                if not known:
                    waiting.append(holder)

    def _copy(self, value: Any) -> Any:
        if id(value) in self._copies:
            return self._copies[id(value)]
        changes = self._changes.get(id(value))
        if changes is None:
            return value
        if isinstance(value, (tuple, types.MethodType, functools.partial)):
            made = _rebuilt(value, {key: self._copy(part) for key, part in changes.items()})
            return self._copies.setdefault(id(value), made)
        twin = self._copies[id(value)] = _twin(value)
        for key, part in changes.items():
            _put(twin, key, self._copy(part))
        return twin


def _is_walked(value: Any) -> bool:
    if isinstance(value, (types.FunctionType, types.MethodType, functools.partial)):
        return True
    if isinstance(value, (list, tuple, dict)):
        return bool(value)
    if isinstance(value, (type, types.ModuleType)) or not hasattr(value, "__dict__"):
        return False
    return _is_of_interest(type(value).__module__)


def _is_of_interest(module: str) -> bool:
    """Of the frameworks or of the user: other libraries' objects hold connections, not texts."""
    first = module.partition(".")[0]
    if first in _LIBRARIES:
        return True
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    return first not in sys.stdlib_module_names and "site-packages" not in file


def _parts(value: Any) -> Iterator[tuple[Key, Any]]:
    if isinstance(value, types.FunctionType):
        yield from _function_parts(value)
    elif isinstance(value, types.MethodType):
        yield ("method", "__func__"), value.__func__
        yield ("method", "__self__"), value.__self__
    elif isinstance(value, functools.partial):
        yield ("partial", "func"), value.func
        yield ("partial", "args"), value.args
        yield ("partial", "keywords"), value.keywords
    elif isinstance(value, Mapping):
        yield from ((("item", key), one) for key, one in list(value.items()))
    elif isinstance(value, (list, tuple)):
        yield from ((("item", number), one) for number, one in enumerate(value))
    elif hasattr(value, "__dict__"):
        cached = functools.cached_property
        for name, one in list(vars(value).items()):
            if not isinstance(getattr(type(value), name, None), cached):
                yield ("attribute", name), one


def _function_parts(function: types.FunctionType) -> Iterator[tuple[Key, Any]]:
    names = function.__code__.co_freevars
    for name, cell in zip(names, function.__closure__ or (), strict=True):
        try:
            yield ("cell", name), cell.cell_contents
        except ValueError:
            continue  # Not filled yet.
    if _is_of_interest(function.__module__ or "") and not _is_library(function):
        for name in _names_read(function.__code__):
            if name in function.__globals__:
                yield ("global", name), function.__globals__[name]


def _is_library(function: types.FunctionType) -> bool:
    return (function.__module__ or "").partition(".")[0] in _LIBRARIES


def _names_read(code: types.CodeType) -> set[str]:
    inner = (one for one in code.co_consts if isinstance(one, types.CodeType))
    return set(code.co_names).union(*(_names_read(one) for one in inner))


def _twin(value: Any) -> Any:
    """A shallow copy, to be filled; what was computed from the original's parts is left out."""
    if not isinstance(value, types.FunctionType):
        twin = copy.copy(value)
        for name in list(vars(twin)) if hasattr(twin, "__dict__") else ():
            if isinstance(getattr(type(twin), name, None), functools.cached_property):
                del twin.__dict__[name]
        return twin
    cells = tuple(types.CellType(*_content(one)) for one in value.__closure__ or ())
    twin = types.FunctionType(
        value.__code__, dict(value.__globals__), value.__name__, value.__defaults__, cells
    )
    functools.update_wrapper(twin, value)
    vars(twin).pop("__wrapped__", None)
    twin.__kwdefaults__ = value.__kwdefaults__
    return twin


def _content(cell: types.CellType) -> tuple[Any, ...]:
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()


def _put(twin: Any, key: Key, value: Any) -> None:
    kind, name = key
    if kind == "cell":
        cells = dict(zip(twin.__code__.co_freevars, twin.__closure__, strict=True))
        cells[name].cell_contents = value
    elif kind == "global":
        twin.__globals__[name] = value
    elif kind == "item":
        twin[name] = value
    else:
        twin.__dict__[name] = value


def _rebuilt(value: Any, changes: Mapping[Key, Any]) -> Any:
    parts = {key[1]: changes.get(key, part) for key, part in _parts(value)}
    if isinstance(value, types.MethodType):
        return types.MethodType(parts["__func__"], parts["__self__"])
    if isinstance(value, functools.partial):
        return functools.partial(parts["func"], *parts["args"], **parts["keywords"])
    made = [parts[number] for number in range(len(value))]
    return type(value)(*made) if hasattr(value, "_fields") else tuple(made)
