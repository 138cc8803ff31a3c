"""Errors that the source raises: their codes, families and words, read from the syntax trees."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from tests.house import House, Module

FAMILIES = ("UsageError", "ConflictError", "UnavailableError", "InvariantError", "ExtensionFailed")
# Codes that are put together, with what takes the place of the gap.
PUT_TOGETHER = {
    "broken_…": ("optimizer", "scorer", "model_provider", "runner"),
    "…_failed": ("adapter", "repository"),
    "…_unavailable": ("adapter", "repository"),
}
_WORDS = ("what", "message", "why")
_Nodes = Mapping[str, ast.AST]
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Maker = tuple[_Function, ast.Call | None]
_CODE = re.compile(r"\bcode\b\"?\s*[=:]|default_code")
_CONSTANT = re.compile(r"^([A-Z_]+) = \"(\w+)\"", re.MULTILINE)
_CLASS = re.compile(r"^class (\w+)\((\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Raised:
    """One place that raises an error, or answers with one over HTTP."""

    code: str
    family: str
    what: str
    fix: str


@cache
def every_error() -> tuple[Raised, ...]:
    """All of them, by module and line; contract suites aside."""
    modules = [one for one in House().modules.values() if ".testing" not in one.name]
    constants = {name: value for one in modules for name, value in _CONSTANT.findall(one.text)}
    bases = {name: base for one in modules for name, base in _CLASS.findall(one.text)}
    # To parse and walk all of the source takes seconds, and most of it names no code.
    readers = [_Reader(one, constants, bases) for one in modules if _CODE.search(one.text)]
    public = {
        name: made
        for reader in readers
        for name, made in reader.makers.items()
        if not name.startswith("_")
    }
    return tuple(found for reader in readers for found in reader.read(public))


class _Reader:
    """Reads the errors of one module."""

    def __init__(
        self,
        module: Module,
        constants: Mapping[str, str],
        bases: Mapping[str, str],
    ) -> None:
        self._nodes = list(ast.walk(module.tree))
        self._constants = constants
        self._bases = bases
        self._functions = [one for one in self._nodes if isinstance(one, _Function)]
        self.makers = {
            one.name: (one, _made_error(one))
            for one in self._functions
            if "code" in _parameters(one)
        }
        self._known = self.makers

    def read(self, public: Mapping[str, _Maker]) -> Iterator[Raised]:
        """The errors; `public` are functions of all modules that make errors."""
        self._known = {**public, **self.makers}
        for node in self._nodes:
            if isinstance(node, ast.Call):
                yield from self._of_call(node)
            elif isinstance(node, ast.ClassDef):
                yield from self._of_class(node)
            elif isinstance(node, ast.Dict):
                yield from self._of_document(node)

    def _of_class(self, node: ast.ClassDef) -> Iterator[Raised]:
        """The code of a family where none is given."""
        for one in node.body:
            if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "default_code":
                about = (ast.get_docstring(node) or "").split("\n")[0]
                yield Raised(_text(one.value), self._family(node.name), about, "")

    def _of_document(self, node: ast.Dict) -> Iterator[Raised]:
        told = {_text(key): value for key, value in zip(node.keys, node.values, strict=True) if key}
        if {"code", "message", "fix"} <= set(told):
            for code in self._codes(told["code"], node):
                yield Raised(code, "over HTTP", _text(told["message"]), _text(told["fix"]))

    def _of_call(self, node: ast.Call) -> Iterator[Raised]:
        name = ast.unparse(node.func).split(".")[-1]
        given: dict[str, ast.AST] = {one.arg: one.value for one in node.keywords if one.arg}
        maker, inner = self._known.get(name, (None, None))
        if maker and inner:
            given = {**_defaults(maker), **given, **_positional(maker, node)}
            name = ast.unparse(inner.func).split(".")[-1]
            given = {
                **{one.arg: _filled(one.value, given) for one in inner.keywords if one.arg},
                "code": given.get("code", ast.Constant("")),
            }
        if "code" in given and ("fix" in given or self._family(name) in FAMILIES):
            words = next(filter(None, (_text(given.get(one)) for one in _WORDS)), "")
            for code in self._codes(given["code"], node):
                yield Raised(code, self._family(name), words, _text(given.get("fix")))

    def _codes(self, node: ast.AST, place: ast.AST) -> Iterator[str]:
        """The codes that an expression may come to."""
        if isinstance(node, ast.IfExp):
            yield from (*self._codes(node.body, place), *self._codes(node.orelse, place))
        elif isinstance(node, ast.Name) and node.id in self._constants:
            yield self._constants[node.id]
        elif isinstance(node, ast.Name):
            inside = [
                one for one in self._functions if any(part is place for part in ast.walk(one))
            ]
            for value in (value for one in inside[-1:] for value in _assigned(one, node.id)):
                yield from self._codes(value, place)
        else:
            text = _text(node)
            middle = PUT_TOGETHER.get(text, ())
            yield from [text.replace("…", one) for one in middle] or ([text] if text else [])

    def _family(self, name: str) -> str:
        while name not in FAMILIES and name in self._bases:
            name = self._bases[name]
        return name if name in FAMILIES else "over HTTP"


def _parameters(function: _Function) -> list[str]:
    given = function.args
    return [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def _positional(function: _Function, call: ast.Call) -> dict[str, ast.AST]:
    names = [one for one in _parameters(function) if one != "self"]
    return dict(zip(names, call.args, strict=False))


def _defaults(function: _Function) -> dict[str, ast.AST]:
    given = function.args
    named = [one.arg for one in given.args]
    plain = dict(zip(reversed(named), reversed(given.defaults), strict=False))
    by_name = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    return {**plain, **{one.arg: value for one, value in by_name if value is not None}}


def _made_error(function: _Function) -> ast.Call | None:
    """The call within it that its own `code` is passed on to."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and any(
            one.arg == "code" and ast.unparse(one.value) == "code" for one in node.keywords
        ):
            return node
    return None


def _filled(node: ast.AST, given: _Nodes) -> ast.AST:
    return given.get(node.id, node) if isinstance(node, ast.Name) else node


def _assigned(inside: ast.AST, name: str) -> Iterator[ast.AST]:
    for node in ast.walk(inside):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from _part(target, node.value, name)
        elif isinstance(node, ast.For) and isinstance(node.iter, ast.Tuple):
            for one in node.iter.elts:
                yield from _part(node.target, one, name)


def _part(target: ast.AST, value: ast.AST, name: str) -> Iterator[ast.AST]:
    if isinstance(target, ast.Name) and target.id == name:
        yield value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, inner in zip(target.elts, value.elts, strict=False):
            yield from _part(one, inner, name)


def _text(node: ast.AST | None) -> str:
    """A text with its gaps shown as …; empty where it is not written there."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(one) if isinstance(one, ast.Constant) else "…" for one in node.values)
    if isinstance(node, ast.IfExp):
        return _text(node.body) or _text(node.orelse)
    if isinstance(node, ast.BinOp):
        return _text(node.left) + (_text(node.right) or "…") if _text(node.left) else ""
    return ""
