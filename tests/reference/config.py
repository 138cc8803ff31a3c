"""Pages of burnish.toml and of models: every key with type, default, example and what it does."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, NamedTuple

from tests.reference.markdown import NONE, table, takes, value

from burnish.config.schema import (
    AgentTable,
    BudgetTable,
    ImagesTable,
    MirrorTable,
    RefineTable,
    Settings,
    SuiteTable,
    UserTable,
    WorkspaceTable,
)
from burnish.config.search import DEFAULT_OPTIMIZER, FRAMEWORK_KEYS, SearchSpec
from burnish.domain import SearchSpace
from burnish.domain.setting_schemas import sentences, settings_schema, type_schema
from burnish.models.openai.presets import PRESETS, Preset
from burnish.models.settings import ModelSettings

EXAMPLES = Path(__file__).parent / "examples.toml"
# Set by the program; no key of the file.
NO_KEYS = {"agent.requested"}
_MODEL = "openai/gpt-4o-mini"
_TABLES = {
    "agent": AgentTable,
    "agent.workspace": WorkspaceTable,
    "suite": SuiteTable,
    "suite.refine": RefineTable,
    "suite.user": UserTable,
    "budget": BudgetTable,
    "images": ImagesTable,
    "mirror": MirrorTable,
}
_AFTER = "suite.user"


class Key(NamedTuple):
    """One key of a table."""

    name: str
    takes: str
    unless: str
    example: Any
    words: str

    def row(self) -> list[str]:
        """As it stands in a table."""
        return [f"`{self.name}`", self.takes, self.unless, value(self.example), self.words]


def made(name: str) -> str:
    """The keys of a table, with what the table is for; or the services that have a preset."""
    if name == "presets":
        head = ["name", "service", "address", "key", "what is different"]
        return table(head, [_preset(name, one) for name, one in PRESETS.items()])
    keys = model_keys() if name == "models" else dict(every_table())[name]
    about = f"{sentences(_TABLES[name])[0]}\n\n" if name in _TABLES else ""
    head = ["key", "takes", "unless said", "such as", "what it does"]
    return about + table(head, map(Key.row, keys))


def _preset(name: str, preset: Preset) -> list[str]:
    address = preset.address or f"${preset.address_env}{preset.path}"
    key = f"`{preset.key_env}`" + (", if it wants one" if preset.local else "")
    return [f"`{name}/NAME`", preset.service, f"`{address}`", key, preset.differs]


def every_table() -> Iterator[tuple[str, list[Key]]]:
    """The tables with their keys, in the order of the file."""
    for name, model in _TABLES.items():
        yield name, _table_keys(name, model)
        if name == _AFTER:
            yield "optimizer", _optimizer_keys()
            yield "optimizer.space", _space_keys()


def model_keys() -> list[Key]:
    """The keys of a table in `[models]`."""
    schema = settings_schema(ModelSettings)["properties"]
    given = examples()["models"][_MODEL]
    return [_key(name, one, given, ModelSettings) for name, one in schema.items()]


def undescribed() -> list[str]:
    """Keys without a sentence or an example; tables that are none of ours."""
    named = [*every_table(), ("models", model_keys())]
    keys = [(f"{name}.{one.name}", one) for name, found in named for one in found]
    known = {name.split(".")[0] for name, _ in named}
    return [
        *(name for name, one in keys if not one.words or one.example is None),
        *(name for name in Settings.model_fields if name not in known),
    ]


def _table_keys(table_name: str, model: Any) -> list[Key]:
    schema = model.model_json_schema()
    needed = schema.get("required", [])
    given = examples(table_name)
    return [
        _key(name, one, given, model, needed=name in needed)
        for name, one in schema["properties"].items()
        if f"{table_name}.{name}" not in NO_KEYS
    ]


def _optimizer_keys() -> list[Key]:
    schema = settings_schema(SearchSpec)["properties"]
    given = examples("optimizer")
    own = {
        "name": {"type": "string", "default": DEFAULT_OPTIMIZER},
        "racing": {"enum": ["off", "conservative", "aggressive"], "default": "off"},
        "space": {"type": "object"},
        "objective": {"type": "object"},
    }
    found = [_key(one, own.get(one) or schema[one], given, SearchSpec) for one in FRAMEWORK_KEYS]
    words = (
        "Which algorithm: see [Which optimizer?](../optimizers.md). Its own "
        "[settings](../optimizer-settings.md) stand beside it, `model` among them."
    )
    return [one._replace(words=words) if one.name == "name" else one for one in found]


def _space_keys() -> list[Key]:
    given = examples("optimizer.space")
    kinds = {"parameters": {"type": "object"}}
    return [
        _key(
            one.name,
            {
                **(kinds.get(one.name) or type_schema(_hint(one.type)) or {}),
                **({} if one.default is MISSING else {"default": one.default}),
            },
            given,
            SearchSpace,
        )
        for one in fields(SearchSpace)
    ]


def _hint(written: Any) -> Any:
    plain = {"int": int, "bool": bool}
    return plain.get(str(written), Sequence[str])


def _key(
    name: str, schema: Mapping[str, Any], given: Mapping[str, Any], of: Any, *, needed: bool = False
) -> Key:
    default = schema.get("default")
    unless = "must be given" if needed else NONE if default in (None, ()) else value(default)
    # The first sentence is about the table as a whole; one that begins with another key is about that.
    told = [one for one in sentences(of)[1:] if f"`{name}`" in one]
    own = [one for one in told if one.startswith(f"`{name}`") or not one.startswith("`")]
    words = " ".join(own or told).removesuffix(";")
    return Key(name, takes(schema), unless, given.get(name), words)


def examples(dotted: str = "") -> dict[str, Any]:
    """The example of every key, or those of a table."""
    found = tomllib.loads(EXAMPLES.read_text(encoding="utf-8"))
    for part in filter(None, dotted.split(".")):
        found = found[part]
    return found
