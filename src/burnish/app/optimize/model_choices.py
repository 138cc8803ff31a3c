"""Models that a search may choose from: those that its space lists for the parameter `model`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from burnish.app.wiring import OpenModel
from burnish.config.search import SearchSpec
from burnish.config.specs import AgentSpec
from burnish.domain import Agent, Configuration, Model, UsageError
from burnish.domain.configuration import MODEL
from burnish.evaluation.agents import JudgeAgent, PromptAgent, ToolAgent


def chosen_models(search: SearchSpec, agent: Agent) -> dict[str, Model]:
    """The listed models, opened, by name; UsageError for one that was not declared.

    What the parameter `model` of a function or a service means is its own affair.
    """
    space = search.space.parameters.get(MODEL)
    if space is None or not isinstance(agent, (PromptAgent, JudgeAgent, ToolAgent)):
        return {}
    if not space.choices:
        raise UsageError(
            what="the search space cannot be used",
            why="its parameter model is a range, and models have no order",
            fix='list them, such as model = ["openai/gpt-4o-mini", "openai/gpt-4o"]',
            code="invalid_space",
        )
    return {str(name): agent.models.named(name) for name in space.choices}


def own_model(spec: AgentSpec, search: SearchSpec, open_model: OpenModel) -> str | None:
    """The name of the agent's model, where a search may choose another; else None.

    The baseline gets it as its parameter `model`, so that it stands on the axis that is searched and
    every candidate says what answers.
    """
    named = MODEL in Configuration.of(spec.configuration).parameters
    if spec.model is None or MODEL not in search.space.parameters or named:
        return None
    return spec.model if isinstance(spec.model, str) else open_model(spec.model).name


def answering_models(agent: AgentSpec, search: SearchSpec | None = None) -> list[Any]:
    """What may answer as the agent: the model of its configuration, and those of the space."""
    if agent.model is None:
        return []
    named = Configuration.of(agent.configuration).model
    space = None if search is None else search.space.parameters.get(MODEL)
    models = [agent.model if named is None else named, *(() if space is None else space.choices)]
    given = agent.models if isinstance(agent.models, Mapping) else {}
    return [given.get(one, one) if isinstance(one, str) else one for one in models]
