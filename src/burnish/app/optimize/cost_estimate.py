"""Cost of an optimization before it runs: calls, tokens and dollars, each from about to about."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from burnish.app.optimize.tool_steps import (
    carried_tokens,
    most_steps,
    reckoned_steps,
    tools_tokens,
)
from burnish.config.search import SearchSpec
from burnish.config.settings import model_settings, with_batch
from burnish.domain import (
    Agent,
    AgentOutput,
    Budget,
    Item,
    Message,
    Purpose,
    Round,
    Score,
    Usage,
)
from burnish.evaluation.agents import JudgeAgent, PromptAgent, ToolAgent
from burnish.evaluation.agents.prompt_agent import chat_messages, label_words
from burnish.evaluation.conversations.agent import TURN_TOKENS
from burnish.evaluation.conversations.user import SimulatedUser
from burnish.evaluation.refine.refiner import refine_messages
from burnish.evaluation.scorers.judge import judge_messages, shown_output, system_text
from burnish.evaluation.scorers.judges import judges_in, pairwise_in, row_judges
from burnish.evaluation.scorers.pairwise import choice_messages
from burnish.evaluation.suite import Suite
from burnish.models.pricing import price_by_name
from burnish.models.tokens import count_message_tokens, count_tokens

_SAMPLE = 20
# Free answers and verdicts have no length before they are given; these are what we reckon with.
_ANSWER_TOKENS = 256
_VERDICT_TOKENS = 80
# What rewriting by a model, and edits without one, may add to a prompt.
_WRITTEN_TOKENS = 400
_EDITED_TOKENS = 100
_EXAMPLES = {"few_shot": 8, "bootstrap": 4}
_NEVER_LONGER = ("compress", "parameters")
# A question to the meta-model: its own words, and a few items with answers and verdicts.
_QUESTION_TOKENS = 400
_LONG_QUESTION_TOKENS = 1200
_SHOWN_ITEMS = 4
_REASON_TOKENS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class CostEstimate:
    """Calls and tokens, of one evaluation or of many. None cannot be known; `why` then says why."""

    calls: float | None
    input_tokens: float = 0.0
    output_tokens: float = 0.0
    cost_usd: float | None = None
    why: str = ""

    def times(self, number: float) -> CostEstimate:
        """So many of them."""
        return CostEstimate(
            calls=None if self.calls is None else self.calls * number,
            input_tokens=self.input_tokens * number,
            output_tokens=self.output_tokens * number,
            cost_usd=None if self.cost_usd is None else self.cost_usd * number,
            why=self.why,
        )

    def plus(self, other: CostEstimate) -> CostEstimate:
        """Both together; what is not known of one is not known of both."""
        unknown = self.cost_usd is None or other.cost_usd is None
        return CostEstimate(
            calls=None if self.calls is None or other.calls is None else self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost_usd=None if unknown else (self.cost_usd or 0.0) + (other.cost_usd or 0.0),
            why=self.why or other.why,
        )

    def within(self, budget: Budget) -> CostEstimate:
        """As far as the limits of calls and dollars let it come."""
        calls, cost = self.calls, self.cost_usd
        if calls is not None and budget.max_calls is not None:
            calls = min(calls, budget.max_calls)
        if cost is not None and budget.max_cost_usd is not None:
            cost = min(cost, budget.max_cost_usd)
        return replace(self, calls=calls, cost_usd=cost)

    def to_json(self) -> dict[str, Any]:
        """The numbers by name."""
        return {
            "calls": None if self.calls is None else round(self.calls),
            "input_tokens": round(self.input_tokens, 1),
            "output_tokens": round(self.output_tokens, 1),
            "cost_usd": self.cost_usd,
            "why_unknown": self.why or None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CostRange:
    """From about `least` to about `most`, which is None where nothing says how much it can be.

    `parts` are those of single purposes, where they are known.
    """

    least: CostEstimate
    most: CostEstimate | None
    parts: Mapping[Purpose, CostRange] = field(default_factory=dict)

    def times(self, number: float, budget: Budget) -> CostRange:
        """So many of them, as far as the limits let it come."""
        most = None if self.most is None else self.most.times(number).within(budget)
        return CostRange(least=self.least.times(number).within(budget), most=most)

    def to_json(self) -> dict[str, Any]:
        """Both by name."""
        return {
            "least": self.least.to_json(),
            "most": None if self.most is None else self.most.to_json(),
        }


@dataclass(frozen=True, slots=True)
class _Call:
    """One model call of an evaluation."""

    model: str
    messages: Sequence[Message]
    answer_tokens: int
    more_tokens: float = 0.0
    purpose: Purpose = Purpose.AGENT

    def cost(self, tables: Mapping[str, Any]) -> CostEstimate:
        read = count_message_tokens(self.messages, _bare(self.model)) + self.more_tokens
        return call_cost(self.model, read, self.answer_tokens, tables)


def call_cost(
    model: str, input_tokens: float, output_tokens: float, tables: Mapping[str, Any]
) -> CostEstimate:
    """One call of a model that is named. `tables` are the models' settings."""
    spent = Usage(calls=1, input_tokens=round(input_tokens), output_tokens=round(output_tokens))
    price = price_of(model, spent, tables)
    return CostEstimate(
        calls=1,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cost_usd=price,
        why=unknown_price(model) if price is None else "",
    )


def estimate_cost(
    agent: Agent,
    suite: Suite,
    tables: Mapping[str, Any],
    *,
    growth: float = 0.0,
    models: Sequence[str] = (),
) -> CostRange:
    """One evaluation, the mean over a few items: with the prompt as it is and nothing refined, and
    with a prompt that is `growth` tokens longer and every output refined as often as it may be.

    Of `models` that may answer in place of the agent's own, the cheapest and the dearest count. A
    tool agent answers at once, or takes all of its steps; how often sub-agents are asked is unknown.
    """
    if not isinstance(agent, (JudgeAgent, PromptAgent, ToolAgent)):
        unseen = CostEstimate(calls=None, why="the agent's own calls cannot be seen from here")
        return CostRange(least=unseen, most=unseen)
    items = list(islice(suite.dataset.items(), _SAMPLE))
    refine = suite.refine
    rounds = 0 if refine is None or refine.model is None else refine.policy.limit
    names = dict.fromkeys((agent.model.name, *models))
    least = min(
        (_means(agent, suite, items, tables, model=name) for name in names),
        key=lambda one: _rank(_sum(one), unknown=-1.0),
    )
    if isinstance(agent, ToolAgent) and most_steps(agent) is None:
        return CostRange(least=_sum(least), most=None)
    dear: dict[str, Any] = {"growth": growth, "rounds": rounds, "longest": True}
    most = max(
        (_means(agent, suite, items, tables, model=name, **dear) for name in names),
        key=lambda one: _rank(_sum(one), unknown=math.inf),
    )
    nothing = CostEstimate(calls=0, cost_usd=0.0)
    parts = {
        purpose: CostRange(least=least.get(purpose, nothing), most=dear)
        for purpose, dear in most.items()
    }
    return CostRange(least=_sum(least), most=_sum(most), parts=parts)


def estimate_questions(
    agent: Agent,
    suite: Suite,
    model: str,
    times: tuple[int, int] | None,
    tables: Mapping[str, Any],
    *,
    growth: float,
) -> CostRange:
    """What an optimizer asks its model, which it does from `times` to `times`; None is unknown.

    It asks in single calls, also where others ask the model in batches.
    """
    tables = with_batch(tables, model, False)
    prompt, shown = _prompt_tokens(agent), _SHOWN_ITEMS * (_item_tokens(suite) + _REASON_TOKENS)
    short = call_cost(model, _QUESTION_TOKENS + prompt + shown, prompt + _REASON_TOKENS, tables)
    long = call_cost(
        model,
        _LONG_QUESTION_TOKENS + prompt + growth + shown,
        prompt + growth + 2 * _REASON_TOKENS,
        tables,
    )
    if times is None:
        return CostRange(least=short, most=None)
    return CostRange(least=short.times(times[0]), most=long.times(times[1]))


def growth_of(search: SearchSpec, agent: Agent, suite: Suite) -> float:
    """How many tokens longer the optimizer may make a prompt."""
    if search.name in _NEVER_LONGER:
        return 0.0
    if search.name in _EXAMPLES:
        number = search.settings.get("max_examples", _EXAMPLES[search.name])
        return _item_tokens(suite) * int(number)
    prompt = _prompt_tokens(agent)
    more = max(prompt, _WRITTEN_TOKENS) if search.settings.get("model") else _EDITED_TOKENS
    limit = search.settings.get("max_prompt_tokens")
    return more if limit is None else max(min(more, limit - prompt), 0)


def price_of_input(
    model: str, tokens: int, tables: Mapping[str, Any], *, cached_share: float = 0.0
) -> float | None:
    """Dollars for so many tokens of a prompt; None where nobody knows the price."""
    cached = round(tokens * cached_share)
    return price_of(model, Usage(calls=1, input_tokens=tokens, cached_tokens=cached), tables)


def unknown_price(model: object) -> str:
    """Why something has no price."""
    return f"the price of {model} is not known"


def _prompt_tokens(agent: Agent) -> int:
    return sum(map(count_tokens, agent.configuration.sections.values()))


def _item_tokens(suite: Suite) -> float:
    items = [str(dict(item.data)) for item in islice(suite.dataset.items(), _SAMPLE)]
    return sum(map(count_tokens, items)) / max(len(items), 1)


def _rank(cost: CostEstimate, *, unknown: float) -> float:
    """What costs are compared by; one that nobody knows is told as unknown."""
    return unknown if cost.cost_usd is None else cost.cost_usd


def _sum(parts: Mapping[Purpose, CostEstimate]) -> CostEstimate:
    total = CostEstimate(calls=0, cost_usd=0.0)
    for one in parts.values():
        total = total.plus(one)
    return total


def _means(
    agent: PromptAgent | JudgeAgent | ToolAgent,
    suite: Suite,
    items: Sequence[Item],
    tables: Mapping[str, Any],
    *,
    model: str,
    growth: float = 0.0,
    rounds: int = 0,
    longest: bool = False,
) -> dict[Purpose, CostEstimate]:
    totals: dict[Purpose, CostEstimate] = {}
    for item in items:
        for call in _calls(
            agent, suite, item, model, tables, growth=growth, rounds=rounds, longest=longest
        ):
            so_far = totals.get(call.purpose, CostEstimate(calls=0, cost_usd=0.0))
            totals[call.purpose] = so_far.plus(call.cost(tables))
    return {purpose: one.times(1 / max(len(items), 1)) for purpose, one in totals.items()}


def _calls(
    agent: PromptAgent | JudgeAgent | ToolAgent,
    suite: Suite,
    item: Item,
    model: str,
    tables: Mapping[str, Any],
    *,
    growth: float,
    rounds: int,
    longest: bool,
) -> Iterator[_Call]:
    configuration = agent.configuration
    if isinstance(agent, JudgeAgent):
        yield _Call(model, agent.messages(item), _VERDICT_TOKENS, growth)
        yield from _judging(suite, item, AgentOutput(text="pass"))
        return
    words = label_words(agent.labels, configuration.parameters)
    answer = max((count_tokens(word, _bare(model)) for word in words.values()), default=0)
    most = configuration.parameters.get("max_tokens")
    limit = int(most) if isinstance(most, (int, float)) else _ANSWER_TOKENS
    output = AgentOutput(text="word " * (1 if words else limit // 2))
    user, said = suite.user, agent.prompt if isinstance(agent, ToolAgent) else configuration
    turns = [item] if user is None else user.reckoned_turns(item, output.text, longest=longest)
    for number, turn in enumerate(turns):
        messages = chat_messages(said, turn, order=tuple(said.sections), answers=words)
        once = _Call(model, messages, answer + 1 if words else limit, growth)
        if isinstance(agent, ToolAgent):
            yield from _steps(agent, once, number, tables, longest=longest)
        else:
            yield once
        if user is not None and user.model is not None:
            asked = SimulatedUser(user.model, user.policy).messages(item, turn.messages)
            yield _Call(user.model.name, asked, TURN_TOKENS, purpose=Purpose.USER)
    yield from _judging(suite, item, output)
    refine = suite.refine
    if refine is None or refine.model is None:
        return
    latest = Round(
        item_id=item.id,
        item_hash=item.hash,
        repeat=0,
        number=0,
        output=output,
        score=0.0,
        passed=False,
        scores=(Score(0.0, "word " * (_VERDICT_TOKENS // 2)),),
        model=model,
    )
    for _ in range(rounds):
        messages = refine_messages(latest, item.data)
        yield _Call(refine.model.name, messages, limit, purpose=Purpose.REFINE)
        yield from _judging(suite, item, output)


def _steps(
    agent: ToolAgent, once: _Call, earlier_turns: int, tables: Mapping[str, Any], *, longest: bool
) -> Iterator[_Call]:
    """The answers of a tool agent in a turn, after what it did in earlier ones."""
    steps = (most_steps(agent) or 1) if longest else 1
    context = once.cost(tables).input_tokens + tools_tokens(agent, _bare(once.model))
    context += earlier_turns * carried_tokens(steps)

    def price(read: float, written: float) -> float | None:
        return call_cost(once.model, read, written, tables).cost_usd

    for read, written in reckoned_steps(agent.limits, steps, context, once.answer_tokens, price):
        yield replace(once, messages=(), answer_tokens=written, more_tokens=read)


def _judging(suite: Suite, item: Item, output: AgentOutput) -> Iterator[_Call]:
    scorers = suite.scorers.scorers
    for judge in (*judges_in(scorers), *row_judges(scorers, item)):
        names = judge.fields_needed or tuple(item.data)
        shown = {name: item.data.get(name) for name in names}
        system = system_text(judge.criteria, judge.threshold, score_only=judge.score_only)
        messages = judge_messages(system, output, shown)
        yield _Call(judge.model.name, messages, _VERDICT_TOKENS, purpose=Purpose.JUDGE)
    for pair in pairwise_in(scorers):
        text = shown_output(output)
        messages = choice_messages(pair.system, text, text, item.data)
        for _ in range(2):  # both orders
            yield _Call(pair.model.name, messages, _VERDICT_TOKENS, purpose=Purpose.JUDGE)


def price_of(model: str, usage: Usage, tables: Mapping[str, Any]) -> float | None:
    """Dollars for a usage of a model that is named; None where nobody knows the price."""
    return price_by_name(model, usage, model_settings(tables, model))


def _bare(model: str) -> str:
    return model.partition("/")[2] or model
