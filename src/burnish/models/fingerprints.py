"""Fingerprints of Python code: changed code is never answered from an old cache."""

from __future__ import annotations

import dis
import functools
import hashlib
import re
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import singledispatch
from pathlib import Path, PurePath
from typing import Any, TypeAlias

# Objects that are being or were described, by id, with the number to refer to them by. The object
# is kept beside the number, because an id is unique only while its object lives.
_Seen: TypeAlias = "dict[int, tuple[int, Any]]"

_SCALARS = (str, bytes, int, float, complex, bool, type(None), type(Ellipsis))
_MAX_OBJECTS = 5_000
_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: classes have it, built-in types do not.
_NOT_BEHAVIOUR = frozenset(
    (
        "__abstractmethods__",
        "__annotations__",
        "__dataclass_fields__",
        "__dataclass_params__",
        "__dict__",
        "__doc__",
        "__module__",
        "__weakref__",
        "_abc_impl",
    )
)


class _UnknownError(Exception):
    """A value whose changes cannot be seen from here."""


def callable_fingerprint(
    function: Callable[..., Any], version: str | int | None = None
) -> str | None:
    """Changes whenever the function may answer otherwise; None when that cannot be known.

    A `version`, as an argument or as an attribute of the function, is taken at its word. Otherwise
    this covers the source of the function's module, its own code, defaults and closure. A function
    that is in no module's file (a script run as `__main__`, a notebook) counts with the globals
    that it reads instead. A callable object counts with its class's source and its attributes.
    Code that a module imports from another is not followed.
    """
    stated = _declared_version(function) if version is None else version
    try:
        if stated is not None:
            described = f"version {stated} of {_qualified_name(function)}"
        else:
            described = _text(function, {})
    except (_UnknownError, RecursionError):
        return None
    return hashlib.sha256(described.encode("utf-8", "surrogatepass")).hexdigest()


def _text(value: Any, seen: _Seen) -> str:
    """The value as text, with everything that its behaviour depends on."""
    if type(value) in _SCALARS:
        return repr(value)
    if isinstance(value, (tuple, frozenset, types.CodeType)):
        return _describe(value, seen)  # Equal constants may or may not be one object.
    if id(value) in seen:
        return f"again {seen[id(value)][0]}"
    if len(seen) > _MAX_OBJECTS:
        raise _UnknownError
    seen[id(value)] = (len(seen), value)
    return _describe(value, seen)


def _declared_version(value: Any) -> str | int | None:
    """A callable's own `version`, where it states one."""
    version = getattr(value, "version", None)
    return version if isinstance(version, (str, int)) and not isinstance(version, bool) else None


def _source_hash(namespace: Mapping[str, Any]) -> str | None:
    """Of the source file whose module has these globals; None where there is none to read."""
    spec = namespace.get("__spec__")
    origin = getattr(spec, "origin", None)
    if namespace.get("__name__") == "__main__" or not str(origin).endswith(".py"):
        return None
    try:
        return hashlib.sha256(Path(str(origin)).read_bytes()).hexdigest()
    except OSError:
        return None


@singledispatch
def _describe(value: Any, seen: _Seen) -> str:
    """An instance: its class and its attributes, where those are all there is to it."""
    cls = type(value)
    for parent in cls.__mro__[:-1]:
        if not parent.__flags__ & _HEAP_TYPE or parent.__dict__.get("__slots__"):
            raise _UnknownError
        if not _is_local(parent) and _source_hash(_module_globals(parent)) is None:
            raise _UnknownError
    if not hasattr(value, "__dict__"):
        raise _UnknownError
    return f"instance({_text(cls, seen)}, {_text(vars(value), seen)})"


@_describe.register(tuple)
@_describe.register(list)
def _sequence(value: Any, seen: _Seen) -> str:
    if type(value) not in (tuple, list):
        raise _UnknownError
    return f"{type(value).__name__}({', '.join(_text(one, seen) for one in value)})"


@_describe.register(set)
@_describe.register(frozenset)
def _set(value: Any, seen: _Seen) -> str:
    # Their order changes from process to process, so no member may refer to another.
    return f"set({', '.join(sorted(_text(one, {}) for one in value))})"


@_describe.register(dict)
@_describe.register(types.MappingProxyType)
def _mapping(value: Any, seen: _Seen) -> str:
    if type(value) not in (dict, types.MappingProxyType):
        raise _UnknownError
    pairs = (f"{_text(key, seen)}: {_text(inner, seen)}" for key, inner in value.items())
    return f"dict({', '.join(pairs)})"


@_describe.register(types.CodeType)
def _code(code: types.CodeType, seen: _Seen) -> str:
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    body = (code.co_code, code.co_exceptiontable, names, counts)
    return f"code({body!r}, {_text(code.co_consts, seen)})"


@_describe.register(types.FunctionType)
def _function(function: types.FunctionType, seen: _Seen) -> str:
    version = _declared_version(function)
    name = f"{function.__globals__.get('__name__')}.{function.__qualname__}"
    if version is not None:
        return f"function({name}, version {version!r})"
    source = _source_hash(function.__globals__)
    state = (function.__defaults__, function.__kwdefaults__, _cells(function))
    parts = [name, str(source), _code(function.__code__, seen), _text(state, seen)]
    if source is None:
        read = {
            key: function.__globals__[key]
            for key in sorted(set(_globals_read(function.__code__)))
            if key in function.__globals__
        }
        parts.append(_text(read, seen))
    return f"function({', '.join(parts)})"


@_describe.register(types.MethodType)
def _method(method: types.MethodType, seen: _Seen) -> str:
    return f"method({_text(method.__func__, seen)}, {_text(method.__self__, seen)})"


@_describe.register(types.BuiltinFunctionType)
def _builtin(function: types.BuiltinFunctionType, seen: _Seen) -> str:
    if not isinstance(function.__self__, (types.ModuleType, type(None))):
        raise _UnknownError  # A method of an object that is written in C.
    return f"builtin({function.__module__}.{function.__qualname__})"


@_describe.register(functools.partial)
def _partial(value: functools.partial[Any], seen: _Seen) -> str:
    return f"partial({_text((value.func, value.args, value.keywords), seen)})"


@_describe.register(staticmethod)
@_describe.register(classmethod)
@_describe.register(type(functools.lru_cache(len)))
def _wrapper(value: Any, seen: _Seen) -> str:
    return f"{type(value).__name__}({_text(value.__wrapped__, seen)})"


@_describe.register(property)
def _property(value: property, seen: _Seen) -> str:
    return f"property({_text((value.fget, value.fset, value.fdel), seen)})"


@_describe.register(types.ModuleType)
def _module(module: types.ModuleType, seen: _Seen) -> str:
    return f"module({module.__name__}, {_source_hash(vars(module))})"


@_describe.register(type)
def _class(cls: type, seen: _Seen) -> str:
    name = f"{cls.__module__}.{cls.__qualname__}"
    if not cls.__flags__ & _HEAP_TYPE:
        return f"type({name})"
    source = _source_hash(_module_globals(cls))
    if source is not None and not _is_local(cls):
        return f"class({name}, {source})"
    members = {key: one for key, one in vars(cls).items() if key not in _NOT_BEHAVIOUR}
    return f"class({name}, {source}, {_text((cls.__bases__, members), seen)})"


@_describe.register(Enum)
def _member(value: Enum, seen: _Seen) -> str:
    return f"member({_text(type(value).__qualname__, seen)}, {_text(value.value, seen)})"


@_describe.register(re.Pattern)
def _pattern(value: re.Pattern[Any], seen: _Seen) -> str:
    return f"pattern({value.pattern!r}, {value.flags})"


@_describe.register(PurePath)
def _path(value: PurePath, seen: _Seen) -> str:
    return f"path({str(value)!r})"


def _cells(function: types.FunctionType) -> tuple[Any, ...]:
    return tuple(_content(cell) for cell in function.__closure__ or ())


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return ...  # Not filled yet.


def _globals_read(code: types.CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _globals_read(constant)


def _module_globals(cls: type) -> Mapping[str, Any]:
    module = sys.modules.get(cls.__module__)
    return {} if module is None else vars(module)


def _is_local(cls: type) -> bool:
    return cls.__module__ == "__main__" or "<locals>" in cls.__qualname__


def _qualified_name(function: Callable[..., Any]) -> str:
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}.{named.__qualname__}"
