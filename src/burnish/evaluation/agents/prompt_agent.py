"""An agent that is a prompt: sections in, one model call, an answer out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from burnish.domain import (
    AgentOutput,
    Configuration,
    Item,
    Json,
    Model,
    ModelRequest,
    ModelResponse,
    Purpose,
    Spending,
    UsageError,
    canonical_hash,
)
from burnish.evaluation.agents.labels import label_words, read_label
from burnish.evaluation.agents.messages import chat_messages

# Parameters that this agent reads itself; all others go to the model.
_OWN_PARAMETERS = frozenset({"label_words"})


class PromptAgent:
    """Renders its sections, asks the model once, and reads a label or JSON out of the answer."""

    def __init__(
        self,
        *,
        name: str,
        configuration: Configuration,
        model: Model,
        labels: Sequence[str] = (),
        output_schema: Mapping[str, Json] | None = None,
    ) -> None:
        if not configuration.placeholders:
            raise UsageError(
                what=f"the agent {name!r} would never see its item",
                why="no section holds a placeholder",
                fix='add one, such as user = "{{message}}"',
                code="no_placeholder",
            )
        self.name = name
        self.configuration = configuration
        self.model = model
        self.labels = tuple(labels)
        self.output_schema = output_schema
        self._order = tuple(configuration.sections)
        label_words(self.labels, configuration.parameters)
        # The order of sections is not in the configuration's hash, so it counts here.
        self.fingerprint: str | None = canonical_hash(
            ["prompt-agent/1", model.fingerprint, self.labels, output_schema, self._order]
        )

    async def run(self, configuration: Configuration, item: Item, *, repeat: int) -> AgentOutput:
        """One call of the model."""
        words = label_words(self.labels, configuration.parameters)
        request = ModelRequest(
            messages=chat_messages(configuration, item.data, order=self._order, answers=words),
            parameters={
                key: value
                for key, value in configuration.parameters.items()
                if key not in _OWN_PARAMETERS
            },
            labels=tuple(words.values()),
            schema=self.output_schema,
            repeat=repeat,
        )
        response = await self.model.complete(request)
        text, data = self._read(response.text, words)
        return AgentOutput(
            text=text,
            data=data,
            trace=_trace(response, text),
            spending=Spending.on(Purpose.AGENT, response.usage),
            finish_reason=response.finish_reason,
            ttft_ms=response.ttft_ms,
            reused=Spending.on(Purpose.AGENT, response.reused) if response.cached else Spending(),
            latency_ms=response.latency_ms if response.cached else None,
        )

    async def close(self) -> None:
        """Nothing of its own: the model belongs to whoever opened it."""

    def _read(self, text: str, words: Mapping[str, str]) -> tuple[str, Json]:
        if words:
            return read_label(text, words) or text, None
        if self.output_schema is None:
            return text, None
        try:
            return text, json.loads(text)
        except ValueError:
            return text, None


def _trace(response: ModelResponse, text: str) -> Json:
    """What the output alone does not tell; the messages follow from configuration and item."""
    trace: dict[str, Json] = {}
    if text != response.text:
        trace["answer"] = response.text
    if response.logprobs is not None:
        trace["logprobs"] = [dict(one) for one in response.logprobs]
    return trace or None
