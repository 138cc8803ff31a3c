"""Examples of the OpenAPI: those of a schema by its class's name, from `server/examples/*.json`."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ConfigDict

OPTIMIZATION_ID = "0199d1c8-5f0e-7a44-9c1b-2f7d3c9e8a10"
CANDIDATE_ID = "3c9e8a10-4"
EXPERIMENT_ID = "5f3c5b0e-8d0f-5a43-b0a5-1a3c0f6f3f11"
_FOLDER = Path(__file__).parents[1] / "examples"


def add_examples(schema: dict[str, Any], model: type) -> None:
    """Put the examples of a class, or of the nearest parent that has some, into its schema."""
    found = _examples()
    for one in model.__mro__:
        if one.__name__ in found:
            schema["examples"] = found[one.__name__]
            return


def add_configuration(schema: dict[str, Any]) -> None:
    """Put the example of a configuration into the schema of a field."""
    schema["examples"] = _examples()["ConfigurationBody"]


@cache
def _examples() -> dict[str, Any]:
    """All of them, read when the first schema is made: a server that nobody asks reads none."""
    read = [json.loads(one.read_text(encoding="utf-8")) for one in sorted(_FOLDER.glob("*.json"))]
    return {name: values for document in read for name, values in document.items()}


WITH_EXAMPLES = ConfigDict(json_schema_extra=add_examples)
