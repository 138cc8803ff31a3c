"""Framework agent: what the adapters of all frameworks share, from sections to outputs."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from burnish.config.specs import AgentSpec
from burnish.domain import (
    AgentOutput,
    Configuration,
    Json,
    Purpose,
    Spending,
    UnavailableError,
    Usage,
    UsageError,
    render,
    require_json,
)
from burnish.evaluation.agents.tools.texts import field_texts, inlined, tool_texts, with_texts

Prompt = str | Callable[[Any], Any]
USER = "user"
_TRANSIENT = (408, 409, 425, 429)
_CONNECTIONS = (
    *("APIConnectionError", "APITimeoutError", "ConnectError", "TimeoutException"),
    # Of dspy, which tells a status only sometimes.
    *("LMTransportError", "LMTimeoutError", "LMRateLimitError", "LMServerError"),
)


def _nothing(configuration: Configuration) -> Any:
    return configuration


@dataclass(frozen=True, kw_only=True)
class FrameworkAgent(AgentSpec):
    """An agent of another framework. `apply` gives that framework's agent with a winner's texts."""

    rebuild: Callable[[Configuration], Any] = _nothing

    def apply(self, winner: Any) -> Any:
        """The framework's agent with the texts of a configuration, or of whatever has one.

        The one that was given stays as it is.
        """
        configuration = Configuration.of(getattr(winner, "configuration", winner))
        require_known(configuration, self.configuration)
        return self.rebuild(configuration)


def require_known(configuration: Configuration, own: Any) -> None:
    """Refuse sections that the agent does not have."""
    known = Configuration.of(own).sections
    unknown = next((path for path in configuration.sections if path not in known), None)
    if unknown is not None:
        raise UsageError(
            what=f"the agent has no section {unknown!r}",
            why=f"it has {', '.join(known) or 'none'}",
            fix="give a configuration that was made from this agent",
            code="unknown_section",
        )


def sections_of_tool(prefix: str, name: str, description: str, schema: Any) -> dict[str, str]:
    """A tool's texts by path."""
    texts = tool_texts(name, description, inlined(schema or {}))
    return {f"{prefix}{path}": text for path, text in texts.items()}


def sections_of_output(prefix: str, schema: Any) -> dict[str, str]:
    """The descriptions of an output's fields by path."""
    found = field_texts(inlined(schema)) if schema else {}
    return {f"{prefix}{path}": text for path, text in found.items()}


def described_tool(
    prefix: str, name: str, description: str, schema: Any, sections: Mapping[str, str]
) -> tuple[str, Any]:
    """A tool's description and schema with the texts of sections."""
    own = next(iter(sections_of_tool(prefix, name, description, {})))
    fields = own.removesuffix("description") + "parameters."
    return sections.get(own, description), described_schema(schema or {}, fields, sections)


def described_schema(schema: Any, prefix: str, sections: Mapping[str, str]) -> Any:
    """A schema with the texts of sections; the very same where none of them is another."""
    plain_schema = inlined(schema)
    changed = with_texts(plain_schema, prefix, sections)
    return schema if changed == plain_schema else changed


def prompt_sections(prompt: Prompt) -> dict[str, str]:
    """A prompt that is a text is a section; one that a function makes is not."""
    return {USER: prompt} if isinstance(prompt, str) else {}


def prompt_of(prompt: Prompt, configuration: Mapping[str, Any], item: Any) -> Any:
    """What the agent is asked for an item."""
    if isinstance(prompt, str):
        return render(configuration["sections"].get(USER, prompt), dict(item))
    return prompt(item)


def given(value: Any, item: Any) -> Any:
    """Dependencies or a context: what a function makes of the item, or the same for all."""
    return value(item) if callable(value) and not isinstance(value, type) else value


def output_of(
    answer: Any, transcript: Sequence[Mapping[str, Json]], usage: Usage, ended: str = "answer"
) -> AgentOutput:
    """An answer, with the transcript as its trace."""
    value = plain(answer)
    return AgentOutput(
        text=value if isinstance(value, str) else json.dumps(value, ensure_ascii=False),
        data=value if isinstance(value, (dict, list)) else None,
        trace={"transcript": [dict(one) for one in transcript], "ended": ended},
        spending=Spending.on(Purpose.AGENT, usage),
    )


def plain(value: Any) -> Json:
    """A value as JSON: models of pydantic and dataclasses by their fields, others as their text."""
    dump = getattr(value, "model_dump", None)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    try:
        return require_json(dump(mode="json") if callable(dump) else value)
    except (UsageError, TypeError, ValueError, RecursionError):
        if isinstance(value, Mapping):
            return {str(key): plain(inner) for key, inner in value.items()}
        if isinstance(value, (list, tuple)):
            return [plain(inner) for inner in value]
        return str(value)


def text_of(value: Any) -> str:
    """A message's content as text."""
    if isinstance(value, str):
        return value
    found = plain(value)
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)


def tool_call(call_id: str | None, name: str, arguments: Any) -> dict[str, Json]:
    """A call as transcripts hold it; arguments that are JSON are read."""
    if isinstance(arguments, str):
        with contextlib.suppress(ValueError):
            arguments = json.loads(arguments or "{}")
    return {"id": call_id or "", "name": name, "arguments": plain(arguments)}


def as_ours(error: Exception, framework: str) -> Exception:
    """A failure of the model as an outage or a wrong key; anything else is the agent's own."""
    seen: BaseException | None = error
    while seen is not None:
        kinds = {one.__name__ for one in type(seen).__mro__}
        status = getattr(seen, "status" if "DSPyError" in kinds else "status_code", None)
        if status in (401, 403) or "LMAuthError" in kinds:
            return UsageError(
                what=f"the model of the {framework} agent refused the request",
                why=f"{type(seen).__name__} with status {status}: {seen}"[:500],
                fix="check the key that the framework uses",
                code="bad_key",
            )
        gone = isinstance(status, int) and (status in _TRANSIENT or status >= 500)
        if gone or kinds.intersection(_CONNECTIONS):
            return UnavailableError(
                what=f"the model of the {framework} agent cannot be reached",
                why=f"{type(seen).__name__}: {seen}"[:500],
                fix="try again later, or raise outage_seconds",
                code="model_unavailable",
            )
        before = seen.__cause__ or seen.__context__
        # What is no failure of the model is raised "from" itself.
        seen = None if before is seen else before
    return error
