"""LangGraph graphs as agents: system prompts of nodes and texts of tools are sections.

A compiled graph holds its prompts and tools in closures and attributes of its nodes. They are found
there, and a candidate runs on a copy of those parts; the graph that was given stays as it is.
"""

from __future__ import annotations

import copy
import functools
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from burnish.domain import AgentOutput, Configuration, Json, Usage, UsageError
from burnish.evaluation.agents.tools.texts import path_part
from burnish.evaluation.views import ConfigurationView, ItemView
from burnish.integrations.frameworks.framework_agent import (
    USER,
    FrameworkAgent,
    Prompt,
    as_ours,
    described_tool,
    output_of,
    prompt_of,
    prompt_sections,
    sections_of_tool,
    text_of,
    tool_call,
)
from burnish.integrations.frameworks.langchain_tools import (
    described_dict,
    described_langchain_tool,
    dict_texts,
    langchain_tool_texts,
)
from burnish.integrations.frameworks.object_copies import ObjectCopies, Skip

_PROMPT_NAMES = ("prompt", "instruction", "system")
_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}


def from_langgraph(
    graph: Any,
    *,
    prompt: Prompt = "{{input}}",
    state: Callable[[Any], Any] | None = None,
    output: Callable[[Any], Any] | None = None,
    config: Mapping[str, Any] | None = None,
    name: str | None = None,
    version: str | None = None,
) -> FrameworkAgent:
    """An agent of a compiled graph, such as one of `create_agent`. The graph is never changed.

    `prompt` is the user's message, with an item's fields as placeholders, or a function of the item;
    `state` makes the graph's whole input of an item instead. `output` reads the answer out of the last
    state: by default the structured response, else the last message. `config` is that of `ainvoke`.
    """
    if not hasattr(graph, "nodes") or not callable(getattr(graph, "ainvoke", None)):
        raise UsageError(
            what=f"{type(graph).__name__} cannot be made an agent",
            why="it is not a compiled graph of LangGraph",
            fix="give what create_agent(…) or StateGraph(…).compile() returns",
            code="invalid_agent",
        )
    texts = _Texts.of(graph)

    async def run(configuration: ConfigurationView, item: ItemView) -> AgentOutput:
        given = state(item) if state else _asked(prompt_of(prompt, configuration, item))
        try:
            last = await texts.put_in(configuration.sections).ainvoke(given, _config(config))
        except Exception as error:
            raise as_ours(error, "LangGraph") from error
        messages = last.get("messages", ()) if isinstance(last, Mapping) else ()
        told = [*texts.told_first(configuration.sections), *map(_told, messages)]
        return output_of((output or _answer)(last), told, _usage(messages))

    def rebuild(configuration: Configuration) -> Any:
        return texts.put_in(configuration.sections)

    own = {} if state else prompt_sections(prompt)
    return FrameworkAgent(
        name=name or getattr(graph, "name", None) or "graph",
        configuration={"sections": {**texts.sections(), **own}},
        run=run,
        version=version,
        rebuild=rebuild,
    )


@dataclass(eq=False)
class _Texts:
    """The texts of a graph: system prompts by node, and tools."""

    graph: Any
    prompts: dict[str, list[str]] = field(default_factory=dict)
    tools: dict[str, dict[str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, graph: Any) -> _Texts:
        texts = cls(graph)
        for path, node in _nodes(graph):
            ObjectCopies(functools.partial(texts._note, path)).of(node.bound)
        return texts

    def sections(self) -> dict[str, str]:
        """Texts by path; a graph with one prompt has it as `system`."""
        found = {path: text for path, (_, text) in self._prompt_paths().items()}
        for texts in self.tools.values():
            found |= texts
        return found

    def put_in(self, sections: Mapping[str, str]) -> Any:
        """A copy of the graph with the texts, or the graph itself where they are the same."""
        paths = self._prompt_paths()
        changed = {
            (node, text): sections[path]
            for path, (node, text) in paths.items()
            if sections.get(path, text) != text
        }
        return _copied(self.graph, changed, sections, "")

    def told_first(self, sections: Mapping[str, str]) -> Iterator[dict[str, Json]]:
        """What nodes say before the conversation; with several, of which of them it is."""
        paths = self._prompt_paths()
        for path, (node, text) in paths.items():
            told: dict[str, Json] = {"role": "system", "content": sections.get(path, text)}
            yield told if len(self.prompts) == 1 else {**told, "agent": node}

    def _prompt_paths(self) -> dict[str, tuple[str, str]]:
        found: dict[str, tuple[str, str]] = {}
        for node, texts in self.prompts.items():
            prefix = "" if len(self.prompts) == 1 else f"agents.{node}."
            for number, text in enumerate(texts, start=1):
                path = f"{prefix}system" if len(texts) == 1 else f"{prefix}system.{number}"
                found[path] = (node, text)
        return found

    def _note(self, node: str, key: str, value: Any) -> Any:
        if (text := _prompt_text(key, value)) is not None:
            known = self.prompts.setdefault(node, [])
            if text not in known:
                known.append(text)
            return Skip
        if _is_tool(value):
            self.tools[value.name] = langchain_tool_texts(value)
            return Skip
        if (described := dict_texts(value)) is not None:
            self.tools.setdefault(described[0], sections_of_tool("", *described))
            return Skip
        return Skip if _is_opaque(value) else None


def _copied(
    graph: Any, prompts: Mapping[tuple[str, str], str], sections: Mapping[str, str], path: str
) -> Any:
    nodes: dict[str, Any] = {}
    for name, node in graph.nodes.items():
        own = f"{path}{path_part(name)}"
        bound = node.bound
        if _is_graph(bound):
            made = _copied(bound, prompts, sections, f"{own}.")
        else:
            visit = _replacing(own, prompts, sections)
            made = ObjectCopies(visit).of(bound)
        if made is not bound:
            nodes[name] = node.copy({"bound": made})
    if not nodes:
        return graph
    twin = copy.copy(graph)
    twin.nodes = {**graph.nodes, **nodes}
    return twin


def _replacing(
    node: str, prompts: Mapping[tuple[str, str], str], sections: Mapping[str, str]
) -> Callable[[str, Any], Any]:
    def visit(key: str, value: Any) -> Any:
        if (text := _prompt_text(key, value)) is not None:
            new = prompts.get((node, text))
            return Skip if new is None else _with_text(value, new)
        if _is_tool(value):
            made = described_langchain_tool(value, sections)
            return Skip if made is value else made
        if (described := dict_texts(value)) is not None:
            name, text, schema = described
            new_text, new_schema = described_tool("", name, text, schema, sections)
            same = new_text == text and new_schema is schema
            return Skip if same else described_dict(value, new_text, new_schema)
        return Skip if _is_opaque(value) else None

    return visit


def _nodes(graph: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every node that does something, those of graphs within too, by its path."""
    for name, node in graph.nodes.items():
        own = f"{path}{path_part(name)}"
        if _is_graph(node.bound):
            yield from _nodes(node.bound, f"{own}.")
        elif name != "__start__":
            yield own, node


def _is_graph(value: Any) -> bool:
    return hasattr(value, "nodes") and hasattr(value, "channels") and hasattr(value, "ainvoke")


def _prompt_text(key: str, value: Any) -> str | None:
    """A text that is a system prompt: a system message, or one that is called so."""
    if _kind(value) == "SystemMessage":
        return value.content if isinstance(value.content, str) and value.content else None
    if _kind(value) == "SystemMessagePromptTemplate":
        template = getattr(value.prompt, "template", None)
        return template if isinstance(template, str) else None
    named = any(one in key.lower() for one in _PROMPT_NAMES)
    return value if named and isinstance(value, str) and " " in value.strip() else None


def _with_text(value: Any, text: str) -> Any:
    if isinstance(value, str):
        return text
    if _kind(value) == "SystemMessage":
        return value.model_copy(update={"content": text})
    prompt = type(value.prompt).from_template(text, template_format=value.prompt.template_format)
    return value.model_copy(update={"prompt": prompt})


def _kind(value: Any) -> str:
    return type(value).__name__


def _is_tool(value: Any) -> bool:
    return any(one.__name__ == "BaseTool" for one in type(value).__mro__)


def _is_opaque(value: Any) -> bool:
    """Models hold connections and keys; nothing in them is ours."""
    return any(one.__name__ == "BaseLanguageModel" for one in type(value).__mro__)


def _asked(prompt: Any) -> dict[str, Any]:
    return {"messages": [{"role": USER, "content": prompt}] if isinstance(prompt, str) else prompt}


def _config(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Every run is a conversation of its own for graphs that remember."""
    config = dict(given or {})
    own = {"thread_id": uuid.uuid4().hex, **(config.get("configurable") or {})}
    return {**config, "configurable": own}


def _answer(last: Any) -> Any:
    if not isinstance(last, Mapping):
        return last
    if last.get("structured_response") is not None:
        return last["structured_response"]
    messages = last.get("messages")
    if not messages:
        raise UsageError(
            what="the graph gave no answer",
            why=f"its last state has no messages; it has {', '.join(last) or 'nothing'}",
            fix="read the answer with from_langgraph(…, output=lambda state: …)",
            code="no_output",
        )
    return text_of(messages[-1].content)


def _told(message: Any) -> dict[str, Json]:
    role = _ROLES.get(message.type, "user")
    told: dict[str, Json] = {"role": role, "content": text_of(message.content)}
    calls = getattr(message, "tool_calls", None)
    if calls:
        told["tool_calls"] = [tool_call(one["id"], one["name"], one["args"]) for one in calls]
    if role == "tool":
        told |= {"tool_call_id": message.tool_call_id, "name": message.name or ""}
        if message.status == "error":
            told["error"] = True
    return told


def _usage(messages: Any) -> Usage:
    """Answers and their tokens, as far as they are in the last state; prices are not known."""
    answers = [one for one in messages if one.type == "ai"]
    counted = [getattr(one, "usage_metadata", None) or {} for one in answers]
    return Usage(
        calls=len(answers),
        input_tokens=sum(one.get("input_tokens", 0) for one in counted),
        output_tokens=sum(one.get("output_tokens", 0) for one in counted),
        cost_usd=None if answers else 0.0,
    )
