"""Tool agent: a prompt whose model may call tools and sub-agents before it answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from burnish.domain import (
    AgentOutput,
    Configuration,
    Item,
    Json,
    Model,
    Purpose,
    Spending,
    ToolCallRecords,
    canonical_hash,
    current_experiment,
    current_payer,
    placeholders,
    render,
)
from burnish.evaluation.agents.model_choice import ModelChoice
from burnish.evaluation.agents.prompt_agent import (
    LABEL_BIAS,
    OWN_PARAMETERS,
    chat_messages,
    label_words,
    read_label,
    require_placeholder,
)
from burnish.evaluation.agents.tools.conversation import Conversation, Ending, Limits, Speaker
from burnish.evaluation.agents.tools.roster import Roster, require_known
from burnish.evaluation.agents.tools.texts import field_texts, inlined, is_tool_text, with_texts
from burnish.support.ids import new_id


def declared_texts(roster: Roster, output_schema: Mapping[str, Json] | None) -> dict[str, str]:
    """The sections of a tool agent that are found by themselves: those of tools, sub-agents, output."""
    fields = field_texts(None if output_schema is None else inlined(output_schema))
    return {**roster.texts(), **{f"output.{path}": text for path, text in fields.items()}}


class ToolAgent:
    """Renders its sections, then lets the model call tools until it answers or a limit is reached.

    Descriptions of tools, parameters, sub-agents and output fields are sections of the
    configuration. The transcript is the trace. `models` has the model of each configuration; sub-agents
    without a model of their own have it too.
    """

    def __init__(
        self,
        *,
        name: str,
        configuration: Configuration,
        model: Model | ModelChoice,
        roster: Roster,
        open_model: Callable[[Any], Model],
        limits: Limits | None = None,
        labels: Sequence[str] = (),
        output_schema: Mapping[str, Json] | None = None,
        records: ToolCallRecords | None = None,
    ) -> None:
        schema = None if output_schema is None else inlined(output_schema)
        texts = declared_texts(roster, schema)
        require_known(configuration.sections, texts)
        sections = {**configuration.sections}
        for path, text in texts.items():
            sections.setdefault(path, text)
        self.name = name
        self.configuration = configuration.with_sections(sections)
        self.prompt = said_sections(self.configuration)
        require_placeholder(name, self.prompt)
        self.models = model if isinstance(model, ModelChoice) else ModelChoice(model)
        self.model = self.models.of(configuration)
        self.labels = tuple(labels)
        self.output_schema = schema
        self.roster = roster
        self._models = dict(_models_of(roster, open_model))
        self.limits = limits or Limits()
        self._records = records
        self._order = tuple(self.prompt.sections)
        label_words(self.labels, configuration.parameters)
        self.fingerprint = self.fingerprint_under(configuration)

    def fingerprint_under(self, configuration: Configuration) -> str | None:
        """The fingerprint with the model that the configuration names.

        None where some tool's code cannot be seen.
        """
        tools = [tool for tool, _ in self.roster.every() if tool is not None]
        prints = [tool.fingerprint for tool in tools]
        if None in prints:
            return None
        limits = self.limits
        return canonical_hash(
            [
                "tool-agent/1",
                self.models.of(configuration).fingerprint,
                {path: model.fingerprint for path, model in self._models.items()},
                self.labels,
                self.output_schema,
                self._order,
                [(tool.name, dict(tool.parameters)) for tool in tools],
                [(sub.name, sub.max_steps) for _, sub in self.roster.every() if sub is not None],
                prints,
                [limits.max_steps, limits.max_seconds, limits.max_tokens, limits.max_cost_usd],
            ]
        )

    async def run(self, configuration: Configuration, item: Item, *, repeat: int) -> AgentOutput:
        """The answer, with the transcript as its trace."""
        words = label_words(self.labels, configuration.parameters)
        sections, schema = _filled(configuration.sections, item.row), self.output_schema
        conversation = Conversation(
            sections=sections,
            parameters={
                key: value
                for key, value in configuration.parameters.items()
                if key not in OWN_PARAMETERS - {LABEL_BIAS}  # Refused there: it would do nothing.
            },
            limits=self.limits,
            repeat=repeat,
            work=_work(item, repeat),
            # An item of several turns is run once a turn, each with other data.
            path=f"{item.hash[:16]}/",
            records=self._records,
        )
        messages = chat_messages(
            said_sections(configuration), item, order=self._order, answers=words
        )
        speaker = Speaker(
            model=self.models.of(configuration),
            roster=self.roster,
            models=self._models,
            max_steps=self.limits.max_steps,
            schema=None if schema is None else with_texts(schema, "output.", sections),
            labels=tuple(words.values()),
        )
        return self._output(await conversation.run(speaker, messages), conversation, words)

    def _output(
        self, ending: Ending, conversation: Conversation, words: Mapping[str, str]
    ) -> AgentOutput:
        text, data = ending.text, None
        if words:
            text = read_label(ending.text, words) or ending.text
        elif self.output_schema is not None:
            try:
                data = json.loads(ending.text)
            except ValueError:
                data = None
        trace: dict[str, Any] = {"transcript": ending.transcript, "ended": ending.ended}
        reused = conversation.reused
        return AgentOutput(
            text=text,
            data=data,
            trace=trace,
            spending=Spending.on(Purpose.AGENT, conversation.paid),
            finish_reason=ending.finish_reason,
            ttft_ms=ending.ttft_ms,
            reused=Spending.on(Purpose.AGENT, reused) if reused.calls else Spending(),
            latency_ms=conversation.milliseconds,
        )

    async def close(self) -> None:
        """Free what the tools hold; models belong to whoever opened them."""
        for tool, _ in self.roster.every():
            if tool is not None:
                await tool.close()


def said_sections(configuration: Configuration) -> Configuration:
    """The part of a configuration that is said to the model, and does not describe a tool."""
    sections = configuration.sections
    return replace(
        configuration,
        sections={path: text for path, text in sections.items() if not is_tool_text(path)},
    )


def _filled(sections: Mapping[str, str], row: Mapping[str, Json]) -> dict[str, str]:
    """The sections with placeholders of descriptions filled, as far as the item has such fields."""
    return {
        path: render(text, row)
        if is_tool_text(path) and placeholders(text) and row.keys() >= set(placeholders(text))
        else text
        for path, text in sections.items()
    }


def _models_of(
    roster: Roster, open_model: Callable[[Any], Model], path: str = ""
) -> list[tuple[str, Model]]:
    """The models of sub-agents by the path of their sections; one without has its caller's."""
    found: list[tuple[str, Model]] = []
    for sub in roster.agents.values():
        own = f"{path}agents.{sub.name}."
        if sub.model is not None:
            found.append((own, open_model(sub.model)))
        found += _models_of(sub.roster, open_model, own)
    return found


def _work(item: Item, repeat: int) -> str:
    """What this run of this item is called, whenever it is done again."""
    payer = current_payer()
    if payer is not None:
        return payer.name
    experiment = current_experiment()
    return f"{new_id() if experiment is None else experiment.id}/{item.id}/{repeat}"
