"""Roster of an agent: its tools and sub-agents as they are declared, and their texts as sections."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burnish.domain import Json, ToolDefinition, UsageError
from burnish.evaluation.agents.tools.http_requests import HttpTool
from burnish.evaluation.agents.tools.mcp_servers import McpTarget, mcp_tools
from burnish.evaluation.agents.tools.openapi import openapi_tools
from burnish.evaluation.agents.tools.python_functions import FunctionTool
from burnish.evaluation.agents.tools.texts import inlined, path_part, tool_texts, with_texts
from burnish.evaluation.agents.tools.tool import Tool, fit_name
from burnish.evaluation.imports import load_callable
from burnish.support.hints import did_you_mean
from burnish.support.number_checks import is_whole

_TASK: Mapping[str, Json] = {
    "type": "object",
    "properties": {"task": {"type": "string", "description": "What it is to do, in whole."}},
    "required": ["task"],
    "additionalProperties": False,
}
_KEYS = ("description", "instructions", "model", "tools", "agents", "max_steps")
_MOST_NESTED = 4


@dataclass(frozen=True, kw_only=True)
class SubAgent:
    """An agent that another calls as a tool with a task; without a `model` it has its caller's."""

    name: str
    description: str
    instructions: str
    roster: Roster
    model: Any = None
    max_steps: int | None = None


@dataclass(frozen=True, kw_only=True)
class Roster:
    """What one agent may call, by name."""

    tools: Mapping[str, Tool]
    agents: Mapping[str, SubAgent]

    @classmethod
    def of(
        cls,
        tools: Sequence[Any],
        agents: Mapping[str, Any],
        folder: Path,
        *,
        version: str | None = None,
        depth: int = 0,
    ) -> Roster:
        """From what is declared; a `version` is that of every tool that has none of its own."""
        built = build_tools([_versioned(one, version) for one in tools], folder)
        subs = {
            fit_name(name): _sub_agent(name, table, folder, version, depth)
            for name, table in agents.items()
        }
        shared = sorted(set(subs) & {tool.name for tool in built})
        if shared:
            raise _invalid(f"{shared[0]!r} is a tool and a sub-agent", "rename one of them")
        return cls(tools={tool.name: tool for tool in built}, agents=subs)

    def texts(self, prefix: str = "") -> dict[str, str]:
        """Every section of it, as it was declared."""
        found: dict[str, str] = {}
        for tool in self.tools.values():
            found |= tool_texts(tool.name, tool.description, tool.parameters)
        for sub in self.agents.values():
            own = f"agents.{path_part(sub.name)}."
            found[f"{own}description"] = sub.description
            found[f"{own}system"] = sub.instructions
            found[f"{own}parameters.task"] = str(_TASK["properties"]["task"]["description"])  # type: ignore[index,call-overload]
            found |= sub.roster.texts(own)
        return {f"{prefix}{path}": text for path, text in found.items()}

    def definitions(self, sections: Mapping[str, str], prefix: str) -> tuple[ToolDefinition, ...]:
        """What the model is told of each, by the sections."""

        def told(kind: str, name: str, schema: Mapping[str, Json]) -> ToolDefinition:
            own = f"{prefix}{kind}.{path_part(name)}."
            text = sections.get(f"{own}description", "")
            return ToolDefinition(name, text, with_texts(schema, f"{own}parameters.", sections))

        return (
            *(told("tools", tool.name, tool.parameters) for tool in self.tools.values()),
            *(told("agents", name, _TASK) for name in self.agents),
        )

    def every(self) -> Iterator[tuple[Tool | None, SubAgent | None]]:
        """All tools and sub-agents, those of sub-agents too."""
        for tool in self.tools.values():
            yield tool, None
        for sub in self.agents.values():
            yield None, sub
            yield from sub.roster.every()

    @property
    def names(self) -> list[str]:
        """What may be called."""
        return [*self.tools, *self.agents]


def task_schema() -> Mapping[str, Json]:
    """The arguments of every sub-agent."""
    return _TASK


def require_known(sections: Mapping[str, str], texts: Mapping[str, str]) -> None:
    """Refuse a section that would describe something that there is not."""
    for path in sections:
        if path.split(".")[0] in ("tools", "agents", "output") and path not in texts:
            every = f"there are {', '.join(texts)}"
            raise UsageError(
                what=f"the section {path!r} describes nothing",
                why="the agent has no such tool, parameter, sub-agent or output field",
                fix=did_you_mean(path, list(texts), every),
                code="unknown_section",
            )


def _versioned(declared: Any, version: str | None) -> Any:
    if version is None or not isinstance(declared, Mapping) or declared.get("version"):
        return declared
    return {**declared, "version": version}


def _sub_agent(name: str, table: Any, folder: Path, version: str | None, depth: int) -> SubAgent:
    if not isinstance(table, Mapping):
        raise _invalid(f"{name!r} is a {type(table).__name__}", f"write [agent.agents.{name}]")
    for key in table:
        if key not in _KEYS:
            fix = did_you_mean(str(key), _KEYS, f"it may have {', '.join(_KEYS)}")
            raise _invalid(f"{name!r} has no setting {key!r}", fix)
    if depth >= _MOST_NESTED:
        raise _invalid(f"{name!r} stands deeper than {_MOST_NESTED} agents", "nest fewer")
    steps = table.get("max_steps")
    if steps is not None and not is_whole(steps, least=1):
        raise _invalid(f"max_steps of {name!r} is {steps!r}", "write a whole number from 1 up")
    return SubAgent(
        name=fit_name(name),
        description=str(table.get("description") or ""),
        instructions=str(table.get("instructions") or ""),
        model=table.get("model"),
        max_steps=steps,
        roster=Roster.of(
            table.get("tools") or (),
            table.get("agents") or {},
            folder,
            version=version,
            depth=depth + 1,
        ),
    )


def _invalid(why: str, fix: str) -> UsageError:
    return UsageError(
        what="the agent's sub-agents cannot be used", why=why, fix=fix, code="invalid_agent"
    )


# What a table may hold beside the key that says of which kind it is.
_KINDS: Mapping[str, frozenset[str]] = {
    "run": frozenset({"name", "description", "version"}),
    "openapi": frozenset({"operations", "base_url", "headers", "timeout_seconds", "version"}),
    "mcp": frozenset({"tools", "env", "headers", "timeout_seconds", "version"}),
    "url": frozenset(
        {"name", "description", "method", "parameters", "headers", "timeout_seconds", "version"}
    ),
}


def build_tools(declared: Sequence[Any], folder: Path) -> list[Tool]:
    """Every tool of a list, in its order; two of one name are refused."""
    found: list[Tool] = [tool for one in declared for tool in _tools_of(one, folder)]
    names: set[str] = set()
    for tool in found:
        if tool.name in names:
            raise _unusable(
                f"there are two of the name {tool.name!r}",
                'give one of them another with name = "…"',
            )
        names.add(tool.name)
    return found


def _tools_of(declared: Any, folder: Path) -> Sequence[Tool]:
    if isinstance(declared, str):
        declared = {"run": declared}
    if isinstance(declared, Mapping):
        return _table_tools(dict(declared), folder)
    if isinstance(getattr(declared, "parameters", None), Mapping) and hasattr(declared, "call"):
        return [declared]  # A tool of one's own.
    if callable(declared):
        return [FunctionTool(declared)]
    raise _unusable(f"a {type(declared).__name__} is no tool", _FIX)


def _table_tools(table: dict[str, Any], folder: Path) -> Sequence[Tool]:
    given = [kind for kind in _KINDS if table.get(kind) is not None]
    if len(given) != 1:
        raise _unusable(
            f"it has {' and '.join(given)}"
            if given
            else "it has neither run, openapi, mcp nor url",
            _FIX,
        )
    kind = given[0]
    what = table.pop(kind)
    rest = {key: value for key, value in table.items() if value is not None}
    for key in rest:
        if key not in _KINDS[kind]:
            known = sorted(_KINDS[kind])
            raise _unusable(
                f"a tool with {kind!r} has no setting {key!r}",
                did_you_mean(key, known, f"it may have {', '.join(known)}"),
            )
    return _MAKERS[kind](what, rest, folder)


def _function(what: Any, rest: dict[str, Any], folder: Path) -> Sequence[Tool]:
    function = load_callable(what, folder) if isinstance(what, str) else what
    if not callable(function):
        raise _unusable(f"a {type(function).__name__} cannot be called", _FIX)
    return [FunctionTool(function, **rest)]


def _openapi(what: Any, rest: dict[str, Any], folder: Path) -> Sequence[Tool]:
    return openapi_tools(folder / str(what), rest.pop("operations", None), **rest)


def _mcp(what: Any, rest: dict[str, Any], folder: Path) -> Sequence[Tool]:
    by_url = isinstance(what, str) and what.startswith(("http://", "https://"))
    command = () if by_url else tuple([what] if isinstance(what, str) else map(str, what))
    target = McpTarget(
        command=command,
        url=what if by_url else None,
        folder=folder,
        env=rest.pop("env", {}),
        headers=rest.pop("headers", {}),
    )
    return mcp_tools(target, rest.pop("tools", None), **rest)


def _request(what: Any, rest: dict[str, Any], _folder: Path) -> Sequence[Tool]:
    if "name" not in rest:
        raise _unusable(f"the tool at {what} has no name", 'add name = "find_order"')
    schema = inlined(rest.pop("parameters", {}))
    # Properties alone are the common case, and a whole schema is taken as it is.
    whole = "properties" in schema or schema.get("type") == "object"
    fields = {"properties": schema, "required": [], "additionalProperties": False}
    parameters = {"type": "object", **(schema if whole else fields)}
    return [HttpTool(url=str(what), parameters=parameters, **{"description": "", **rest})]


_FIX = (
    'write { run = "shop:find_order" }, { openapi = "api.yaml", operations = ["getOrder"] }, '
    '{ mcp = ["python", "server.py"] } or { url = "http://…", name = "…", method = "GET" }'
)
_MAKERS: Mapping[str, Callable[[Any, dict[str, Any], Path], Sequence[Tool]]] = {
    "run": _function,
    "openapi": _openapi,
    "mcp": _mcp,
    "url": _request,
}


def _unusable(why: str, fix: str) -> UsageError:
    return UsageError(
        what="the agent's tools cannot be used", why=why, fix=fix, code="invalid_tool"
    )
