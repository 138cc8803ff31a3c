"""Fit of an agent to its suite: what every item would fail on is refused before anything is paid."""

from __future__ import annotations

from burnish.domain import Agent
from burnish.evaluation.agents import CommandAgent, JudgeAgent, PromptAgent, ToolAgent
from burnish.evaluation.agents.prompt_agent import require_columns
from burnish.evaluation.conversations.agent import require_user
from burnish.evaluation.refine.plan import require_fields
from burnish.evaluation.suite import Suite


def check_fit(agent: Agent, suite: Suite) -> None:
    """Refuse, before anything is paid, what every item would fail on."""
    columns = suite.columns
    prompted = agent if isinstance(agent, (PromptAgent, ToolAgent)) else None
    require_user(suite.user, columns, prompted)
    if prompted is not None:
        prompt = prompted.prompt if isinstance(prompted, ToolAgent) else prompted.configuration
        require_columns(prompt.placeholders, columns)
    if isinstance(agent, CommandAgent):
        require_columns(agent.placeholders, columns)
    if isinstance(agent, JudgeAgent):
        agent.require_columns(columns)
        agent.require_hidden(suite.scorers.answer_fields)
    if suite.pictures is not None:
        suite.pictures.require(columns)
    require_fields(suite.refine, set(columns))
    suite.scorers.require_fields(columns)
