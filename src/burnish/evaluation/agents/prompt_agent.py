"""Prompt agent: sections to chat messages, one model call, an answer or a label out of it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from math import isfinite

from burnish.domain import (
    AgentOutput,
    Configuration,
    Item,
    Json,
    Message,
    Model,
    ModelRequest,
    ModelResponse,
    Purpose,
    Spending,
    UsageError,
    canonical_hash,
    render,
)
from burnish.domain.configuration import MODEL, malformed_placeholders
from burnish.domain.experiments.items import TURN
from burnish.domain.experiments.pictures import picture_words, with_pictures, without_pictures
from burnish.evaluation.agents.model_choice import ModelChoice

# The score from which outputs of this prompt are not refined, where the suite sets none.
REFINE_THRESHOLD = "refine_threshold"
# What is added to the log probability of each label before the likeliest one is the answer.
LABEL_BIAS = "label_bias"
# Parameters that this agent reads itself; all others go to the model.
OWN_PARAMETERS = frozenset({"label_words", LABEL_BIAS, REFINE_THRESHOLD, MODEL})
_EDGES = " \t\r\n.,;:!?\"'`*()[]{}<>"
_ROLES = ("system", "developer", "user", "assistant")


class PromptAgent:
    """Renders its sections, asks the model once, and reads a label or JSON out of the answer.

    `models` has the model of each configuration, `model` is that of the agent's own.
    """

    def __init__(
        self,
        *,
        name: str,
        configuration: Configuration,
        model: Model | ModelChoice,
        labels: Sequence[str] = (),
        output_schema: Mapping[str, Json] | None = None,
    ) -> None:
        require_placeholder(name, configuration)
        self.name = name
        self.configuration = configuration
        self.models = model if isinstance(model, ModelChoice) else ModelChoice(model)
        self.model = self.models.of(configuration)
        self.labels = tuple(labels)
        self.output_schema = output_schema
        self._order = tuple(configuration.sections)
        label_words(self.labels, configuration.parameters)
        label_bias(self.labels, configuration.parameters)
        self.fingerprint: str | None = self.fingerprint_under(configuration)

    async def run(self, configuration: Configuration, item: Item, *, repeat: int) -> AgentOutput:
        """One call of the model."""
        words = label_words(self.labels, configuration.parameters)
        bias = label_bias(self.labels, configuration.parameters)
        parameters = {
            key: value
            for key, value in configuration.parameters.items()
            if key not in OWN_PARAMETERS
        }
        request = ModelRequest(
            messages=chat_messages(configuration, item, order=self._order, answers=words),
            parameters={**parameters, "label_logprobs": True} if bias else parameters,
            labels=tuple(words.values()),
            schema=self.output_schema,
            repeat=repeat,
        )
        response = await self.models.of(configuration).complete(request)
        # A label that a refusal happens to name is no answer.
        read = (response.text, None) if response.refused else self._read(response.text, words)
        text, data = read
        if bias and not response.refused:
            text = _weighed(self.models.of(configuration).name, response, words, bias)
        return AgentOutput(
            text=text,
            data=data,
            trace=_trace(response, text, words),
            spending=Spending.on(Purpose.AGENT, response.usage),
            finish_reason=response.finish_reason,
            ttft_ms=response.ttft_ms,
            reused=Spending.on(Purpose.AGENT, response.reused) if response.cached else Spending(),
            latency_ms=response.latency_ms,
        )

    def fingerprint_under(self, configuration: Configuration) -> str:
        """The fingerprint with the model that the configuration names."""
        model = self.models.of(configuration).fingerprint
        # The order of sections is not in the configuration's hash, so it counts here.
        return canonical_hash(
            ["prompt-agent/1", model, self.labels, self.output_schema, self._order]
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


def require_placeholder(name: str, configuration: Configuration) -> None:
    """Refuse a prompt that would be the same for every item."""
    if configuration.placeholders:
        return
    texts = configuration.sections.values()
    meant = next((one for text in texts for one in malformed_placeholders(text)), None)
    raise UsageError(
        what=f"the agent {name!r} would never see its item",
        why="no section holds a placeholder"
        if meant is None
        else f"{meant} is no placeholder: its name is not of ASCII letters, digits, _ and dots",
        fix='add one, such as user = "{{message}}"'
        if meant is None
        else "write a column's name alone, such as {{text}}; rename columns of other characters",
        code="no_placeholder",
    )


def _trace(response: ModelResponse, text: str, words: Mapping[str, str]) -> Json:
    """What the output alone does not tell; the messages follow from configuration and item."""
    trace: dict[str, Json] = {}
    if text != response.text:
        trace["answer"] = response.text
    if response.logprobs is not None:
        trace["logprobs"] = [dict(one) for one in response.logprobs]
    if told := response.label_logprobs:
        trace["label_logprobs"] = {
            label: told[word] for label, word in words.items() if word in told
        }
    return trace or None


def label_words(labels: Sequence[str], parameters: Mapping[str, Json]) -> dict[str, str]:
    """The word the model says for each label: the label itself, or what `label_words` maps it to."""
    chosen = parameters.get("label_words") or {}
    if not isinstance(chosen, Mapping):
        raise _invalid(f"it is a {type(chosen).__name__}, not an object of label to word")
    if unknown := [label for label in chosen if label not in labels]:
        raise _invalid(f"{unknown[0]!r} is not one of the labels {', '.join(labels)}")
    words = {label: str(chosen.get(label, label)) for label in labels}
    if len(set(words.values())) < len(words) or not all(words.values()):
        raise _invalid("two labels share a word, or a word is empty")
    return words


def label_bias(labels: Sequence[str], parameters: Mapping[str, Json]) -> dict[str, float]:
    """What is added to each label's log probability; empty where the model's word is taken."""
    given = parameters.get(LABEL_BIAS) or {}
    if not isinstance(given, Mapping):
        raise _invalid_bias(f"it is a {type(given).__name__}, not an object of label to number")
    if unknown := [label for label in given if label not in labels]:
        raise _invalid_bias(f"{unknown[0]!r} is not one of the labels {', '.join(labels)}")
    for label, one in given.items():
        if isinstance(one, bool) or not isinstance(one, (int, float)) or not isfinite(one):
            raise _invalid_bias(f"that of {label!r} is {one!r}, not a number")
    return {label: float(one) for label, one in given.items() if isinstance(one, (int, float))}


def _weighed(
    model: str, response: ModelResponse, words: Mapping[str, str], bias: Mapping[str, float]
) -> str:
    """The label that is likeliest with the bias; of equals the first."""
    told = response.label_logprobs
    if not told or any(word not in told for word in words.values()):
        raise _invalid_bias(f"{model} does not tell how likely each label is")
    return max(words, key=lambda label: told[words[label]] + bias.get(label, 0.0))


def _invalid_bias(why: str) -> UsageError:
    return UsageError(
        what=f"the parameter {LABEL_BIAS} cannot be used",
        why=why,
        fix='write a number a label, such as {"positive": -0.5}, with an embedded model, or leave it '
        "out",
        code="parameter_out_of_range",
    )


def read_label(text: str, words: Mapping[str, str]) -> str | None:
    """The label whose word the answer is, or holds as the only one; None when that is unclear."""
    answer = text.strip(_EDGES).casefold()
    for label, word in words.items():
        if answer == word.casefold():
            return label
    found = [
        label
        for label, word in words.items()
        if re.search(rf"(?<!\w){re.escape(word.casefold())}(?!\w)", answer)
    ]
    return found[0] if len(found) == 1 else None


def _invalid(why: str) -> UsageError:
    return UsageError(
        what="the parameter label_words cannot be used",
        why=why,
        fix='write one distinct word a label, such as {"positive": "good", "negative": "bad"}',
        code="parameter_out_of_range",
    )


def require_columns(names: Set[str], columns: Set[str]) -> None:
    """Refuse, before anything is paid, placeholders that no row fills."""
    for name in sorted(names):
        if name not in columns and name.split(".")[0] not in columns:
            raise UsageError(
                what=f"the placeholder {{{{{name}}}}} cannot be filled",
                why=f"the dataset has no such column; it has {', '.join(sorted(columns))}",
                fix="rename the placeholder or add the column",
                code="placeholder_unknown",
            )


def role_of(path: str) -> str:
    """The chat role a section speaks in: its path's first part, or system for any other name."""
    first = path.split(".", 1)[0]
    return first if first in _ROLES else "system"


def chat_messages(
    configuration: Configuration,
    item: Item,
    *,
    order: Sequence[str],
    answers: Mapping[str, str],
) -> tuple[Message, ...]:
    """System first, then the examples as turns, then the conversation so far, then the item.

    Sections of one role stand in the agent's declared order (others follow by name) and are joined
    by a blank line. `answers` maps an example's output to the words the model should say. In a
    conversation the user's sections are a template of each of the user's messages.
    """
    fields = {**item.row, **picture_words(item.pictures)}
    texts = _texts_by_role(configuration, order)
    messages = [
        Message(role, render(texts[role], fields))
        for role in ("system", "developer")
        if role in texts
    ]
    user = texts.get("user", "")
    for number, example in enumerate(configuration.examples):
        shown, output = _example_parts(example, number)
        shown = {name: without_pictures(value) for name, value in shown.items()}
        messages.append(Message("user", render(user, shown)))
        messages.append(Message("assistant", answers.get(output, output)))
    own = [
        replace(said, content=render(user, {**fields, TURN: said.content}))
        if said.role == "user"
        else said
        for said in item.messages[:-1]
    ]
    own.extend(
        Message(role, render(texts[role], fields))
        for role in ("user", "assistant")
        if role in texts
    )
    every = (*messages, *with_pictures(own, item.pictures))
    return tuple(message for message in every if message.content or not message.plain)


def _texts_by_role(configuration: Configuration, order: Sequence[str]) -> dict[str, str]:
    declared = [path for path in order if path in configuration.sections]
    added = sorted(path for path in configuration.sections if path not in order)
    by_role: dict[str, list[str]] = {}
    for path in (*declared, *added):
        by_role.setdefault(role_of(path), []).append(configuration.sections[path])
    return {role: "\n\n".join(text for text in texts if text) for role, texts in by_role.items()}


def _example_parts(example: Mapping[str, Json], number: int) -> tuple[Mapping[str, Json], str]:
    shown, output = example.get("input"), example.get("output")
    if not isinstance(shown, Mapping) or not isinstance(output, str):
        raise UsageError(
            what=f"example {number} cannot be shown",
            why="it needs an object `input` with the item's fields and a text `output`",
            fix='write {"input": {"review": "…"}, "output": "positive"}',
            code="invalid_example",
        )
    return shown, output
