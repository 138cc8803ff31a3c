"""OpenAI Agents SDK: its agents as agents, with instructions, tools, handoffs and output fields.

Every run gets clones with the candidate's texts, so the agents that were given stay as they are.
"""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

from burnish.domain import AgentOutput, Configuration, Json, Usage
from burnish.evaluation.agents.tools.texts import path_part
from burnish.evaluation.views import ConfigurationView, ItemView
from burnish.integrations.frameworks.framework_agent import (
    FrameworkAgent,
    Prompt,
    as_ours,
    described_schema,
    described_tool,
    given,
    output_of,
    prompt_of,
    prompt_sections,
    sections_of_output,
    sections_of_tool,
    text_of,
    tool_call,
)


def from_openai_agents(
    agent: Any,
    *,
    prompt: Prompt = "{{input}}",
    context: Any = None,
    run_config: Any = None,
    max_turns: int = 10,
    name: str | None = None,
    version: str | None = None,
) -> FrameworkAgent:
    """An agent of an `agents.Agent`, with all that it can hand over to. None of them is changed.

    `prompt` is what it is asked, with an item's fields as placeholders, or a function of the item.
    `context` goes to tools, or is a function of the item that makes it. `run_config` and `max_turns`
    are those of `Runner.run`.
    """
    team = _Team.of(agent)

    async def run(configuration: ConfigurationView, item: ItemView) -> AgentOutput:
        from agents import Runner  # noqa: PLC0415 - it came with the agent

        asked = prompt_of(prompt, configuration, item)
        options = {"run_config": run_config} if run_config is not None else {}
        try:
            result = await Runner.run(
                team.with_texts(configuration.sections),
                asked,
                context=given(context, item),
                max_turns=max_turns,
                **options,
            )
        except Exception as error:
            raise as_ours(error, "OpenAI Agents") from error
        told = list(_transcript(configuration.sections.get("system"), result))
        return output_of(result.final_output, told, _usage(result))

    def rebuild(configuration: Configuration) -> Any:
        return team.with_texts(configuration.sections)

    return FrameworkAgent(
        name=name or agent.name,
        configuration={"sections": {**team.sections(), **prompt_sections(prompt)}},
        run=run,
        version=version,
        rebuild=rebuild,
    )


@dataclasses.dataclass(frozen=True)
class _Team:
    """An agent and those that it can hand over to, by the prefix of their sections."""

    members: Mapping[str, Any]

    @classmethod
    def of(cls, agent: Any) -> _Team:
        members = {"": agent}
        waiting = [agent]
        while waiting:
            for one in map(_target, waiting.pop().handoffs):
                if one is None or any(one is known for known in members.values()):
                    continue
                number, prefix = 1, f"agents.{path_part(one.name)}."
                while prefix in members:
                    number += 1
                    prefix = f"agents.{path_part(one.name)}-{number}."
                members[prefix] = one
                waiting.append(one)
        return cls(members)

    def sections(self) -> dict[str, str]:
        """Of every member."""
        found: dict[str, str] = {}
        for prefix, agent in self.members.items():
            if isinstance(agent.instructions, str):
                found[f"{prefix}system"] = agent.instructions
            if prefix:
                found[f"{prefix}description"] = agent.handoff_description or ""
            for tool in filter(_has_texts, agent.tools):
                found |= sections_of_tool(
                    prefix, tool.name, tool.description or "", tool.params_json_schema
                )
            found |= sections_of_output(f"{prefix}output.", _output_schema(agent))
        return found

    def with_texts(self, sections: Mapping[str, str]) -> Any:
        """Clones of all members that hand over to one another, and the first of them."""
        clones = {
            prefix: self._clone(prefix, agent, sections) for prefix, agent in self.members.items()
        }
        by_id = {id(agent): clones[prefix] for prefix, agent in self.members.items()}
        for prefix, clone in clones.items():
            clone.handoffs = [_redirected(one, by_id) for one in self.members[prefix].handoffs]
        return clones[""]

    def _clone(self, prefix: str, agent: Any, sections: Mapping[str, str]) -> Any:
        changes: dict[str, Any] = {"tools": [_tool(one, prefix, sections) for one in agent.tools]}
        if isinstance(agent.instructions, str):
            changes["instructions"] = sections.get(f"{prefix}system", agent.instructions)
        if prefix and sections.get(f"{prefix}description"):
            changes["handoff_description"] = sections[f"{prefix}description"]
        schema = _output_schema(agent)
        if schema is not None:
            changed = described_schema(schema, f"{prefix}output.", sections)
            if changed is not schema:
                changes["output_type"] = _schema_class()(_output_of(agent), changed)
        return agent.clone(**changes)


def _has_texts(tool: Any) -> bool:
    """Whether it is a function's, and no tool that the provider runs."""
    return hasattr(tool, "params_json_schema") and hasattr(tool, "description")


def _tool(tool: Any, prefix: str, sections: Mapping[str, str]) -> Any:
    if not _has_texts(tool):
        return tool
    schema = tool.params_json_schema
    described, changed = described_tool(prefix, tool.name, tool.description or "", schema, sections)
    if described == tool.description and changed is schema:
        return tool
    return dataclasses.replace(tool, description=described, params_json_schema=changed)


def _target(handoff: Any) -> Any:
    """The agent that is handed over to; None where a function decides it."""
    if not hasattr(handoff, "on_invoke_handoff"):
        return handoff
    reference = getattr(handoff, "_agent_ref", None)
    return reference() if callable(reference) else None


def _redirected(handoff: Any, clones: Mapping[int, Any]) -> Any:
    """A handoff to a clone; the default description tells the clone's."""
    if not hasattr(handoff, "on_invoke_handoff"):
        return clones[id(handoff)]

    async def invoke(context: Any, arguments: str) -> Any:
        agent = await handoff.on_invoke_handoff(context, arguments)
        return clones.get(id(agent), agent)

    target = _target(handoff)
    told = handoff.tool_description
    if target is not None and told == type(handoff).default_tool_description(target):
        told = type(handoff).default_tool_description(clones[id(target)])
    changed = dataclasses.replace(handoff, on_invoke_handoff=invoke, tool_description=told)
    if target is not None:
        changed._agent_ref = weakref.ref(clones[id(target)])  # noqa: SLF001 - not among its arguments
    return changed


def _output_of(agent: Any) -> Any:
    from agents.agent_output import (  # noqa: PLC0415 - it came with the agent
        AgentOutputSchema,
        AgentOutputSchemaBase,
    )

    if agent.output_type is None or agent.output_type is str:
        return None
    if isinstance(agent.output_type, AgentOutputSchemaBase):
        return agent.output_type
    return AgentOutputSchema(agent.output_type)


def _output_schema(agent: Any) -> Any:
    output = _output_of(agent)
    return None if output is None or output.is_plain_text() else output.json_schema()


def _schema_class() -> Any:
    from agents.agent_output import AgentOutputSchemaBase  # noqa: PLC0415 - it came with the agent

    class DescribedOutput(AgentOutputSchemaBase):  # type: ignore[misc]
        """An output type with other descriptions of its fields."""

        def __init__(self, output: Any, schema: dict[str, Any]) -> None:
            self.output, self.schema = output, schema

        def is_plain_text(self) -> bool:
            return False

        def name(self) -> str:
            return str(self.output.name())

        def json_schema(self) -> dict[str, Any]:
            return self.schema

        def is_strict_json_schema(self) -> bool:
            return bool(self.output.is_strict_json_schema())

        def validate_json(self, json_str: str) -> Any:
            return self.output.validate_json(json_str)

    return DescribedOutput


def _transcript(system: str | None, result: Any) -> Iterator[dict[str, Json]]:
    if system:
        yield {"role": "system", "content": system}
    asked = result.input
    for one in [asked] if isinstance(asked, str) else asked:
        content = one.get("content", "") if isinstance(one, Mapping) else one
        yield {"role": "user", "content": text_of(content)}
    names: dict[str, str] = {}
    for item in result.new_items:
        told = _told(item, names)
        if told is not None:
            agent = getattr(item, "agent", None)
            yield {**told, "agent": agent.name} if agent is not None else told


def _told(item: Any, names: dict[str, str]) -> dict[str, Json] | None:
    """A message, a call or what came back from it; reasoning is left out."""
    raw = item.raw_item
    call_id = _of(raw, "call_id")
    if _of(raw, "type") == "message":
        parts = _of(raw, "content") or ()
        texts = [text for one in parts if (text := _of(one, "text") or _of(one, "refusal"))]
        return {"role": "assistant", "content": "\n".join(texts)}
    if call_id and _of(raw, "name"):
        names[call_id] = _of(raw, "name")
        call = tool_call(call_id, names[call_id], _of(raw, "arguments"))
        return {"role": "assistant", "content": "", "tool_calls": [call]}
    if call_id and _of(raw, "output") is not None:
        content = text_of(_of(raw, "output"))
        name = names.get(call_id, "")
        return {"role": "tool", "content": content, "tool_call_id": call_id, "name": name}
    return None


def _of(raw: Any, name: str) -> Any:
    return raw.get(name) if isinstance(raw, Mapping) else getattr(raw, name, None)


def _usage(result: Any) -> Usage:
    """Calls and tokens; the SDK knows no prices."""
    usage = result.context_wrapper.usage
    calls = usage.requests or len(result.raw_responses)
    details = getattr(usage, "input_tokens_details", None)
    return Usage(
        calls=calls,
        input_tokens=usage.input_tokens or 0,
        output_tokens=usage.output_tokens or 0,
        cached_tokens=getattr(details, "cached_tokens", 0) or 0,
        cost_usd=None if calls else 0.0,
    )
