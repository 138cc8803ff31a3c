"""Fit of an agent to its suite: what every item would fail on is refused before anything is paid."""

from __future__ import annotations

from burnish.domain import Agent, UsageError
from burnish.evaluation.agents import JudgeAgent, PromptAgent, ToolAgent
from burnish.evaluation.conversations.agent import require_user
from burnish.evaluation.refine.plan import require_fields
from burnish.evaluation.suite import Suite


def check_fit(agent: Agent, suite: Suite) -> None:
    """Refuse, before anything is paid, what every item would fail on."""
    columns = suite.columns
    prompted = isinstance(agent, (PromptAgent, ToolAgent))
    require_user(suite.user, columns, agent if prompted else None)
    if isinstance(agent, (PromptAgent, ToolAgent)):
        prompt = agent.prompt if isinstance(agent, ToolAgent) else agent.configuration
        for name in sorted(prompt.placeholders):
            if name not in columns and name.split(".")[0] not in columns:
                raise UsageError(
                    what=f"the placeholder {{{{{name}}}}} cannot be filled",
                    why=f"the dataset has no such column; it has {', '.join(sorted(columns))}",
                    fix="rename the placeholder or add the column",
                    code="placeholder_unknown",
                )
    if isinstance(agent, JudgeAgent):
        agent.require_columns(columns)
    for name in () if suite.pictures is None else suite.pictures.columns:
        if name not in columns:
            raise UsageError(
                what=f"the pictures of {name!r} cannot be shown",
                why=f"the dataset has no such column; it has {', '.join(sorted(columns))}",
                fix="correct `pictures` in [suite] or add the column",
                code="unknown_field",
            )
    require_fields(suite.refine, set(columns))
    missing = suite.scorers.missing_fields(columns)
    if missing:
        raise UsageError(
            what="the scorers cannot compare",
            why=f"the dataset has no column {min(missing)!r}; it has {', '.join(sorted(columns))}",
            fix="correct the scorer's `field` or add the column",
            code="unknown_field",
        )
