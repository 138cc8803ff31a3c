"""Demos of DSPy's predictors as examples of a configuration, and back."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from burnish.domain import Json, UsageError, require_json
from burnish.integrations.dspy.predictors import Predictors

_PREDICTOR = "predictor"


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
            raise _unusable(number, f"it does not say of which predictor: {', '.join(by_path)}")
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
        raise _unusable(number, "it needs an object `input` and a text `output`")
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


def _unusable(number: int, why: str) -> UsageError:
    return UsageError(
        what=f"example {number} cannot be a demo",
        why=why,
        fix='write {"predictor": "answer.instructions", "input": {…}, "output": "…"}',
        code="invalid_example",
    )
