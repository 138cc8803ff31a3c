"""pydantic-ai agents as agents: instructions, tools and output fields are sections.

Texts are put in where they leave for the model, so tools of functions, toolsets and MCP servers are
treated alike, and neither the agent nor its tools are changed.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from burnish.domain import AgentOutput, Configuration, Usage, UsageError
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
from burnish.support.sync_calls import run_sync

if TYPE_CHECKING:
    from burnish.domain import Json


def from_pydantic_ai(
    agent: Any,
    *,
    prompt: Prompt = "{{input}}",
    deps: Any = None,
    model: Any = None,
    agents: Mapping[str, Any] | None = None,
    name: str | None = None,
    version: str | None = None,
) -> FrameworkAgent:
    """An agent of a `pydantic_ai.Agent`. It is never changed.

    `prompt` is what it is asked, with an item's fields as placeholders, or a function of the item.
    `deps` are its dependencies, or a function of the item that makes them. `model` is asked in place
    of the agent's own. `agents` are agents that its tools run, by name: their texts are sections too.
    """
    program = _Program(agent, prompt, deps, model, dict(agents or {}))
    return FrameworkAgent(
        name=name or getattr(agent, "name", None) or "agent",
        configuration={"sections": {**program.sections(), **prompt_sections(prompt)}},
        run=program.run,
        version=version,
        rebuild=program.rebuild,
    )


class _Seen(Exception):  # noqa: N818 - a signal: the request was looked at
    """Ends a run in which the model's request was only to be seen."""


@dataclasses.dataclass(eq=False)
class _Program:
    agent: Any
    prompt: Prompt
    deps: Any
    model: Any
    agents: Mapping[str, Any]
    written: dict[str, str] = dataclasses.field(default_factory=dict)

    def sections(self) -> dict[str, str]:
        """Those of the agent and of its sub-agents."""
        for prefix, one in self._all():
            self.written |= run_sync(self._look(one, prefix))
        return dict(self.written)

    async def run(self, configuration: ConfigurationView, item: ItemView) -> AgentOutput:
        """One run, under the texts of a configuration; those around it are not touched."""
        sections = configuration.sections
        asked = prompt_of(self.prompt, configuration, item)
        try:
            with self._overrides(sections):
                result = await self.agent.run(asked, deps=given(self.deps, item))
        except Exception as error:
            raise as_ours(error, "pydantic-ai") from error
        changed = {text: sections.get(path, text) for path, text in self.written.items()}
        messages = [_rewritten(one, changed) for one in result.all_messages()]
        return output_of(result.output, list(_transcript(messages)), _usage(result))

    def rebuild(self, configuration: Configuration) -> Any:
        """A copy whose model is asked with the texts; with sub-agents, whatever runs them so."""
        if self.agents:
            return _wrapper_class()(self.agent, lambda: self._overrides(configuration.sections))
        winner = copy.copy(self.agent)
        winner.model = self._with_texts(self.agent, "", configuration.sections)
        return winner

    @contextlib.contextmanager
    def _overrides(self, sections: Mapping[str, str]) -> Iterator[None]:
        """Within, and in this context only, the agents are asked with the texts."""
        with contextlib.ExitStack() as stack:
            for prefix, one in self._all():
                stack.enter_context(one.override(model=self._with_texts(one, prefix, sections)))
            yield

    def _all(self) -> Iterator[tuple[str, Any]]:
        yield "", self.agent
        for name, one in self.agents.items():
            yield f"agents.{name}.", one

    def _with_texts(self, agent: Any, prefix: str, sections: Mapping[str, str]) -> Any:
        own = self.model if agent is self.agent and self.model is not None else agent.model
        if own is None:
            raise UsageError(
                what="the pydantic-ai agent cannot be run",
                why="it has no model",
                fix="give it one, or from_pydantic_ai(…, model=…)",
                code="invalid_agent",
            )
        return _model_class()(own, _Texts(prefix, sections, _literals(agent)))

    async def _look(self, agent: Any, prefix: str) -> dict[str, str]:
        """The texts of the first request that would leave for the model; none does."""
        from pydantic_ai.models.function import FunctionModel  # noqa: PLC0415 - it came with the agent

        seen: list[Any] = []

        def look(messages: Any, info: Any) -> Any:
            seen.append((messages, info.model_request_parameters))
            raise _Seen

        with contextlib.suppress(_Seen), agent.override(model=FunctionModel(look)):
            await agent.run("", deps=None if callable(self.deps) else self.deps)
        if not seen:
            raise UsageError(
                what="the texts of the pydantic-ai agent cannot be seen",
                why="it ended before its model was asked",
                fix="give the dependencies that its instructions need with deps=…",
                code="invalid_agent",
            )
        messages, request = seen[0]
        return _Texts(prefix, {}, _literals(agent)).found(messages, request)


@dataclasses.dataclass(frozen=True)
class _Texts:
    """Sections below a prefix, and where they stand in a request."""

    prefix: str
    sections: Mapping[str, str]
    system_prompts: tuple[str, ...]

    def found(self, messages: Any, request: Any) -> dict[str, str]:
        texts = list(self.system_prompts)
        texts += [one.content for one in request.instruction_parts or () if not one.dynamic]
        sections = dict(zip(self._system_paths(len(texts)), texts, strict=True))
        for tool in request.function_tools:
            sections |= sections_of_tool(
                self.prefix, tool.name, tool.description or "", tool.parameters_json_schema
            )
        for prefix, schema in self._outputs(request):
            sections |= sections_of_output(prefix, schema)
        return sections

    def put_in(self, messages: Any, request: Any) -> tuple[Any, Any]:
        """The messages and the request with the texts of the sections."""
        literal = [one for one in request.instruction_parts or () if not one.dynamic]
        before = [*self.system_prompts, *(one.content for one in literal)]
        paths = self._system_paths(len(before))
        changed = {
            old: self.sections[path]
            for path, old in zip(paths, before, strict=True)
            if self.sections.get(path, old) != old
        }
        request = dataclasses.replace(
            request,
            function_tools=[self._tool(one) for one in request.function_tools],
            **self._changed_outputs(request),
        )
        if not changed:
            return messages, request
        if request.instruction_parts is not None:
            parts = [
                one
                if one.dynamic or one.content not in changed
                else dataclasses.replace(one, content=changed[one.content])
                for one in request.instruction_parts
            ]
            request = dataclasses.replace(request, instruction_parts=parts)
        return [_rewritten(one, changed) for one in messages], request

    def _system_paths(self, many: int) -> list[str]:
        if many == 1:
            return [f"{self.prefix}system"]
        return [f"{self.prefix}system.{number}" for number in range(1, many + 1)]

    def _tool(self, tool: Any) -> Any:
        described, schema = described_tool(
            self.prefix,
            tool.name,
            tool.description or "",
            tool.parameters_json_schema,
            self.sections,
        )
        return dataclasses.replace(
            tool, description=described or tool.description, parameters_json_schema=schema
        )

    def _outputs(self, request: Any) -> Iterator[tuple[str, Any]]:
        tools = request.output_tools
        for tool in tools:
            own = "" if len(tools) == 1 else f"{tool.name}."
            yield f"{self.prefix}output.{own}", tool.parameters_json_schema
        if request.output_object is not None and not tools:
            yield f"{self.prefix}output.", request.output_object.json_schema

    def _changed_outputs(self, request: Any) -> dict[str, Any]:
        schemas = [
            described_schema(schema, prefix, self.sections)
            for prefix, schema in self._outputs(request)
        ]
        if request.output_tools:
            tools = zip(request.output_tools, schemas, strict=True)
            changed = [dataclasses.replace(one, parameters_json_schema=new) for one, new in tools]
            return {"output_tools": changed}
        if request.output_object is not None:
            one = dataclasses.replace(request.output_object, json_schema=schemas[0])
            return {"output_object": one}
        return {}


def _model_class() -> Any:
    from pydantic_ai.models.wrapper import WrapperModel  # noqa: PLC0415 - it came with the agent

    class TextsModel(WrapperModel):  # type: ignore[misc]
        """Another model, asked with other texts."""

        def __init__(self, wrapped: Any, texts: _Texts) -> None:
            super().__init__(wrapped)
            self.texts = texts

        async def request(self, messages: Any, model_settings: Any, request: Any) -> Any:
            messages, request = self.texts.put_in(messages, request)
            return await self.wrapped.request(messages, model_settings, request)

        @contextlib.asynccontextmanager
        async def request_stream(
            self, messages: Any, model_settings: Any, request: Any, *more: Any, **named: Any
        ) -> Any:
            messages, request = self.texts.put_in(messages, request)
            async with self.wrapped.request_stream(
                messages, model_settings, request, *more, **named
            ) as stream:
                yield stream

    return TextsModel


def _wrapper_class() -> Any:
    from pydantic_ai.agent import WrapperAgent  # noqa: PLC0415 - it came with the agent

    class TextsAgent(WrapperAgent):  # type: ignore[misc]
        """Another agent, run with other texts, and so are those that its tools run."""

        def __init__(self, wrapped: Any, overrides: Any) -> None:
            super().__init__(wrapped)
            self.overrides = overrides

        @contextlib.asynccontextmanager
        async def iter(self, *given: Any, **named: Any) -> Any:
            with self.overrides():
                async with self.wrapped.iter(*given, **named) as run:
                    yield run

    return TextsAgent


def _literals(agent: Any) -> tuple[str, ...]:
    """System prompts that are written down; those of functions are made anew for each run."""
    return tuple(getattr(agent, "_system_prompts", ()))


def _rewritten(message: Any, changed: Mapping[str, str]) -> Any:
    """A message with other instructions; what was said stays."""
    if getattr(message, "kind", None) != "request":
        return message
    parts = [
        dataclasses.replace(one, content=changed[one.content])
        if one.part_kind == "system-prompt" and one.content in changed
        else one
        for one in message.parts
    ]
    instructions: Any = getattr(message, "instructions", None)
    for old, new in changed.items() if instructions else ():
        instructions = instructions.replace(old, new, 1)
    return dataclasses.replace(message, parts=parts, instructions=instructions)


def _transcript(messages: Any) -> Iterator[dict[str, Json]]:
    for number, message in enumerate(messages):
        if message.kind == "response":
            yield _answer(message)
            continue
        instructions = getattr(message, "instructions", None)
        if instructions and number == 0:
            yield {"role": "system", "content": instructions}
        for part in message.parts:
            yield _said(part)


def _answer(message: Any) -> dict[str, Json]:
    texts = [one.content for one in message.parts if one.part_kind == "text"]
    calls = [
        tool_call(one.tool_call_id, one.tool_name, one.args)
        for one in message.parts
        if one.part_kind == "tool-call"
    ]
    answer: dict[str, Json] = {"role": "assistant", "content": "\n".join(texts)}
    return {**answer, "tool_calls": list(calls)} if calls else answer


def _said(part: Any) -> dict[str, Json]:
    roles = {"system-prompt": "system", "user-prompt": "user"}
    if getattr(part, "tool_name", None) is None:
        return {"role": roles.get(part.part_kind, "user"), "content": text_of(part.content)}
    said: dict[str, Json] = {
        "role": "tool",
        "content": text_of(part.content),
        "tool_call_id": part.tool_call_id,
        "name": part.tool_name,
    }
    failed = part.part_kind == "retry-prompt" or getattr(part, "outcome", "success") != "success"
    return {**said, "error": True} if failed else said


def _usage(result: Any) -> Usage:
    """Calls and tokens; the library knows a price for some models only, so the cost is unknown."""
    usage = result.usage
    return Usage(
        calls=usage.requests,
        input_tokens=usage.input_tokens or 0,
        output_tokens=usage.output_tokens or 0,
        cached_tokens=usage.cache_read_tokens or 0,
        cost_usd=None if usage.requests else 0.0,
    )
