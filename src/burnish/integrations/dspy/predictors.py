"""Predictors of a DSPy program by section path, and their demos as examples of a configuration."""

from __future__ import annotations

import copy
import inspect
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from burnish.domain import Json, UsageError, require_json

_SUBSCRIPT = re.compile(r"\[['\"]?(.*?)['\"]?\]")
_NOT_OF_A_PATH = re.compile(r"[^A-Za-z0-9_.-]+")
_INSTRUCTIONS = "instructions"
_PREDICTOR = "predictor"


@dataclass(frozen=True)
class Predictors:
    """Predictors by path, in the program's order: `steps[0].predict` is steps.0.predict."""

    by_path: Mapping[str, Any]

    @classmethod
    def of(cls, module: Any) -> Predictors:
        """Those of a module; UsageError when it is none, or has none."""
        read = getattr(module, "named_predictors", None)
        if not callable(read) or isinstance(module, type):
            raise _unusable(module, "it is not a dspy.Module", "give an instance of one")
        found: dict[str, Any] = {}
        for name, predictor in read():
            found.setdefault(_path(str(name), found), predictor)
        if not found:
            raise _unusable(
                module, "it has no predictors", "give a program with dspy.Predict in it"
            )
        return cls(found)


def copied(module: Any) -> Any:
    """A copy that shares no predictor with the module, or an error: it must not be changed."""
    own = getattr(module, "deepcopy", None)
    twin = own() if callable(own) else copy.deepcopy(module)
    originals = {id(one) for one in Predictors.of(module).by_path.values()}
    if any(id(one) in originals for one in Predictors.of(twin).by_path.values()):
        raise _unusable(
            module,
            "a copy of it shares predictors with it, so it would be changed itself",
            "give it a deepcopy() that copies them",
        )
    return twin


def input_names(module: Any) -> tuple[str, ...]:
    """What the program is called with: what `forward` names, else the first predictor's inputs."""
    forward = getattr(type(module), "forward", None)  # Asked of the instance, dspy warns.
    if callable(forward):
        arguments = list(inspect.signature(forward).parameters.values())[1:]
        kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        named = tuple(one.name for one in arguments if one.kind in kinds)
        if named:
            return named
    first = next(iter(Predictors.of(module).by_path.values()))
    return tuple(first.signature.input_fields)


def section_path(name: str) -> str:
    """The name of a part of a program as the path of a section: `steps[0].answer` is steps.0.answer."""
    dotted = _SUBSCRIPT.sub(r".\1", name)
    parts = [part.strip("-") for part in _NOT_OF_A_PATH.sub("-", dotted).split(".")]
    path = ".".join(part for part in parts if part) or "predict"
    return path if path[0].isalpha() or path[0] == "_" else f"_{path}"


def _path(name: str, taken: Mapping[str, Any]) -> str:
    path = section_path(name)
    number, unique = 1, f"{path}.{_INSTRUCTIONS}"
    while unique in taken:
        number += 1
        unique = f"{path}-{number}.{_INSTRUCTIONS}"
    return unique


def _unusable(module: Any, why: str, fix: str) -> UsageError:
    return UsageError(
        what=f"{type(module).__name__} cannot be made an agent",
        why=why,
        fix=fix,
        code="invalid_agent",
    )


def examples_of(predictors: Predictors) -> list[dict[str, Any]]:
    """Demos as {"input": …, "output": …}, with `predictor` where there are several of them.

    None at all where a demo holds what is not JSON: such demos stay as they are in the program.
    """
    several = len(predictors.by_path) > 1
    examples = []
    for path, predictor in predictors.by_path.items():
        for demo in getattr(predictor, "demos", ()):
            try:
                example = _example(predictor, demo)
            except UsageError:
                return []
            examples.append({_PREDICTOR: path, **example} if several else example)
    return examples


def demos_of(
    examples: Sequence[Mapping[str, Json]], predictors: Predictors
) -> Iterator[tuple[Any, list[Any]]]:
    """Every predictor with its demos."""
    by_path: dict[str, list[Any]] = {path: [] for path in predictors.by_path}
    for number, example in enumerate(examples):
        path = example.get(_PREDICTOR)
        if path is None and len(by_path) == 1:
            path = next(iter(by_path))
        if not isinstance(path, str) or path not in by_path:
            raise _unusable_example(
                number, f"it does not say of which predictor: {', '.join(by_path)}"
            )
        by_path[path].append(_demo(number, example, predictors.by_path[path]))
    for path, demos in by_path.items():
        yield predictors.by_path[path], demos


def _example(predictor: Any, demo: Any) -> dict[str, Any]:
    read = getattr(demo, "toDict", None)
    fields = dict(read() if callable(read) else demo)
    given = {key: value for key, value in fields.items() if key in predictor.signature.input_fields}
    told = {key: value for key, value in fields.items() if key in predictor.signature.output_fields}
    only = next(iter(told.values())) if len(told) == 1 else None
    output = only if isinstance(only, str) else json.dumps(require_json(told), ensure_ascii=False)
    return {"input": require_json(given), "output": output}


def _demo(number: int, example: Mapping[str, Json], predictor: Any) -> Any:
    given, output = example.get("input"), example.get("output")
    if not isinstance(given, Mapping) or not isinstance(output, str):
        raise _unusable_example(number, "it needs an object `input` and a text `output`")
    signature = predictor.signature
    fields = {key: value for key, value in given.items() if key in signature.input_fields}
    fields |= _told(output, list(signature.output_fields))
    dspy = sys.modules.get("dspy")
    return fields if dspy is None else dspy.Example(**fields).with_inputs(*signature.input_fields)


def _told(output: str, names: list[str]) -> dict[str, Any]:
    """Output fields by name where the text is JSON of them; else it is the last field."""
    try:
        value = json.loads(output)
    except ValueError:
        value = None
    if isinstance(value, dict) and value and all(key in names for key in value):
        return value
    return {names[-1]: output}


def _unusable_example(number: int, why: str) -> UsageError:
    return UsageError(
        what=f"example {number} cannot be a demo",
        why=why,
        fix='write {"predictor": "answer.instructions", "input": {…}, "output": "…"}',
        code="invalid_example",
    )
