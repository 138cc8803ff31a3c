"""Steps of a tool agent before it runs: what each answer of its model reads and writes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from burnish.evaluation.agents import ToolAgent
from burnish.evaluation.agents.tools.conversation import Limits
from burnish.models.tokens import count_tokens

# Neither has a length before it is there; these are what we reckon with.
CALL_TOKENS = 60
RESULT_TOKENS = 256


def most_steps(agent: ToolAgent) -> int | None:
    """How often its model answers at most; None where nothing limits how often sub-agents are asked."""
    if agent.roster.agents:
        return None
    return agent.limits.max_steps if agent.roster.tools else 1


def tools_tokens(agent: ToolAgent, model: str) -> int:
    """What the tools take of each request."""
    told = agent.roster.definitions(agent.configuration.sections, "")
    return sum(
        count_tokens(f"{one.name} {one.description} {json.dumps(one.parameters)}", model)
        for one in told
    )


def carried_tokens(steps: int) -> int:
    """What calls and results add to every later request."""
    return max(steps - 1, 0) * (CALL_TOKENS + RESULT_TOKENS)


def reckoned_steps(
    limits: Limits,
    steps: int,
    context: float,
    answer: int,
    price: Callable[[float, float], float | None],
) -> Iterator[tuple[float, int]]:
    """Tokens in and out of each of so many answers, the last one without a call, within the limits."""
    tokens, cost = 0.0, 0.0
    for step in range(1, steps + 1):
        if limits.max_tokens is not None and tokens >= limits.max_tokens:
            return
        if limits.max_cost_usd is not None and cost >= limits.max_cost_usd:
            return
        said = answer if step == steps else CALL_TOKENS
        yield context, said
        tokens += context + said
        cost += price(context, said) or 0.0
        context += CALL_TOKENS + RESULT_TOKENS
