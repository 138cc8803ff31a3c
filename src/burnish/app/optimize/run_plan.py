"""Plan of an optimization: what it would run and cost; nothing is called and nothing is stored."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from burnish.config.schema import Settings
from burnish.config.search import SearchSpec
from burnish.config.settings import model_settings
from burnish.domain import (
    SPLITS,
    Agent,
    AgentOutput,
    Budget,
    Configuration,
    Item,
    Message,
    Round,
    Score,
    Usage,
    UsageError,
)
from burnish.evaluation.agents import PromptAgent
from burnish.evaluation.agents.prompt_agent import chat_messages, label_words
from burnish.evaluation.refine.refiner import refine_messages
from burnish.evaluation.scorers.judge import judge_messages, system_text
from burnish.evaluation.scorers.judges import judges_in, row_judges
from burnish.evaluation.suite import Suite
from burnish.models.pricing import price_call
from burnish.models.tokens import count_message_tokens, count_tokens
from burnish.optimization.objective import Objective, unmeasured


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedWork:
    """Evaluations: item runs, of which cached ones cost nothing. `most` is None without a limit."""

    splits: Mapping[str, int]
    each_trial: int
    confirmation: int
    max_trials: int | None
    most: int | None

    @classmethod
    def of(cls, suite: Suite, budget: Budget) -> PlannedWork:
        """The work of a suite within a budget."""
        splits = {name: len(ids) for name, ids in split_ids(suite).items()}
        repeats = suite.policy.repeats
        trial, confirmation = splits["validation"] * repeats, 2 * splits["test"] * repeats
        trials = budget.max_trials
        limits = [
            None if trials is None else trial * (trials + 1) + confirmation,
            budget.max_evaluations,
        ]
        return cls(
            splits=splits,
            each_trial=trial,
            confirmation=confirmation,
            max_trials=trials,
            most=min((limit for limit in limits if limit is not None), default=None),
        )

    def to_json(self) -> dict[str, Any]:
        """As `optimize --dry-run --json` prints it."""
        return {
            "baseline": self.each_trial,
            "each_trial": self.each_trial,
            "confirmation": self.confirmation,
            "max_trials": self.max_trials,
            "max": self.most,
        }


def require_room(suite: Suite, budget: Budget) -> None:
    """Refuse, before anything is paid, a budget that ends before the search begins."""
    needed = PlannedWork.of(suite, budget).each_trial
    reached = budget.exhausted(Usage())
    if reached is None and (budget.max_evaluations or needed) < needed:
        reached = "max_evaluations"
    if reached is not None:
        raise UsageError(
            what="the budget leaves no room for a search",
            why=f"{reached} is {getattr(budget, reached):g}, and the baseline alone takes "
            f"{needed} evaluations",
            fix=f"raise {reached}",
            code="invalid_budget",
        )


def split_ids(suite: Suite) -> dict[str, tuple[str, ...]]:
    """Ids by split. Without a split the search sees every item and nothing is held out."""
    ids = tuple(suite.dataset.index().ids)
    assigned = suite.splits()
    if not assigned:
        return {"train": ids, "validation": ids, "test": ()}
    found = {name: tuple(one for one in ids if assigned.get(one) == name) for name in SPLITS}
    found["validation"] = found["validation"] or found["train"]
    found["train"] = found["train"] or found["validation"]
    if not found["validation"]:
        raise UsageError(
            what="there is nothing to search on",
            why="neither the train nor the validation split has items",
            fix="give the suite a split with both, such as "
            "split = { train = 0.4, validation = 0.4, test = 0.2 }",
            code="no_split",
        )
    return found


_SAMPLE = 20
# Free answers and verdicts have no length before they are given; these are what we reckon with.
_ANSWER_TOKENS = 256
_VERDICT_TOKENS = 80
_FREE = ("local", "scripted", "replay")


@dataclass(frozen=True, slots=True, kw_only=True)
class CostEstimate:
    """One evaluation's calls and tokens. None means that it cannot be known; `why` then says why."""

    calls: int | None
    input_tokens: float = 0.0
    output_tokens: float = 0.0
    cost_usd: float | None = None
    why: str = ""

    def times(self, evaluations: int | None) -> float | None:
        """The dollars of so many evaluations."""
        known = self.cost_usd is not None and evaluations is not None
        return (self.cost_usd or 0.0) * (evaluations or 0) if known else None

    def to_json(self) -> dict[str, Any]:
        """The numbers by name."""
        return {
            "calls": self.calls,
            "input_tokens": round(self.input_tokens, 1),
            "output_tokens": round(self.output_tokens, 1),
            "cost_usd": self.cost_usd,
            "why_unknown": self.why or None,
        }


@dataclass(frozen=True, slots=True)
class _Call:
    """One model call of an evaluation."""

    model: str
    messages: Sequence[Message]
    answer_tokens: int


def estimate_cost(agent: Agent, suite: Suite, tables: Mapping[str, Any]) -> CostEstimate:
    """The mean over a few items. `tables` are the models' settings."""
    if not isinstance(agent, PromptAgent):
        return CostEstimate(calls=None, why="the agent's own calls cannot be seen from here")
    items = list(islice(suite.dataset.items(), _SAMPLE))
    usage, cost, why, calls = Usage(), 0.0, "", 0
    for item in items:
        for call in _calls(agent, agent.configuration, suite, item):
            read = count_message_tokens(call.messages, _bare(call.model))
            spent = Usage(calls=1, input_tokens=read, output_tokens=call.answer_tokens)
            price = _price(call.model, spent, tables)
            usage, calls = usage + spent, calls + 1
            cost += price or 0.0
            if price is None:
                why = f"the price of {call.model} is not known"
    number = max(len(items), 1)
    return CostEstimate(
        calls=calls // number,
        input_tokens=usage.input_tokens / number,
        output_tokens=usage.output_tokens / number,
        cost_usd=None if why else cost / number,
        why=why,
    )


def require_price(objective: Objective, model: object, tables: Mapping[str, Any]) -> None:
    """Refuse, before anything is paid, to weigh a cost that nobody knows.

    A model that is named is looked up; what another one reports shows with the baseline.
    """
    if "cost" not in objective.measures or not isinstance(model, str):
        return
    if _price(model, Usage(calls=1, input_tokens=1000, output_tokens=1000), tables) is None:
        raise unmeasured(
            f"the price of {model} is not known",
            "set input_price and output_price in [models], or name tokens in place of cost",
        )


def price_of_input(model: str, tokens: int, tables: Mapping[str, Any]) -> float | None:
    """Dollars for so many tokens of a prompt; None where nobody knows the price."""
    return _price(model, Usage(calls=1, input_tokens=tokens), tables)


def _calls(
    agent: PromptAgent, configuration: Configuration, suite: Suite, item: Item
) -> Iterator[_Call]:
    words = label_words(agent.labels, configuration.parameters)
    order = tuple(configuration.sections)
    messages = chat_messages(configuration, item.data, order=order, answers=words)
    model = agent.model.name
    answer = max((count_tokens(word, _bare(model)) for word in words.values()), default=0)
    most = configuration.parameters.get("max_tokens")
    limit = int(most) if isinstance(most, (int, float)) else _ANSWER_TOKENS
    yield _Call(model, messages, answer + 1 if words else limit)
    output = AgentOutput(text="word " * (1 if words else limit // 2))
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
    # The most that it may be: how many rounds an output needs is not known before.
    for _ in range(refine.policy.limit):
        yield _Call(refine.model.name, refine_messages(latest, item.data), limit)
        yield from _judging(suite, item, output)


def _judging(suite: Suite, item: Item, output: AgentOutput) -> Iterator[_Call]:
    scorers = suite.scorers.scorers
    for judge in (*judges_in(scorers), *row_judges(scorers, item)):
        names = judge.fields_needed or tuple(item.data)
        shown = {name: item.data.get(name) for name in names}
        system = system_text(judge.criteria, judge.threshold)
        yield _Call(judge.model.name, judge_messages(system, output, shown), _VERDICT_TOKENS)


def _price(model: str, usage: Usage, tables: Mapping[str, Any]) -> float | None:
    provider = model.partition("/")[0]
    if provider in _FREE:
        return 0.0
    settings = model_settings(tables, model)
    if "/" in model and provider != "openai":
        address = settings.base_url
        return price_call(
            _bare(model), usage, settings=settings, base_url=address, provider=provider
        )
    address = settings.base_url or os.environ.get("OPENAI_BASE_URL") or None
    return price_call(_bare(model), usage, settings=settings, base_url=address)


def _bare(model: str) -> str:
    return model.partition("/")[2] or model


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """A run before it is one. Upper bounds are None where nothing limits them."""

    settings: Settings
    search: SearchSpec
    budget: Budget
    work: PlannedWork
    price: CostEstimate

    @property
    def max_calls(self) -> int | None:
        """The most model calls that evaluations can make."""
        each, most = self.price.calls, self.work.most
        return None if each is None or most is None else each * most

    @property
    def max_cost_usd(self) -> float | None:
        """The most that evaluations can cost."""
        free = self.price.cost_usd == 0
        most = 0.0 if free else self.price.times(self.work.most)
        limit = self.budget.max_cost_usd
        if limit is None:
            return most
        return limit if most is None else min(most, limit)

    def to_json(self) -> dict[str, Any]:
        """As `optimize --dry-run --json` prints it."""
        search = self.search
        return {
            "dry_run": True,
            "agent": self.settings.agent.name,
            "optimizer": search.name,
            "seed": search.seed,
            "racing": search.racing_in_effect.value,
            "objective": search.objective.to_json(),
            "notes": list(search.notes),
            "splits": dict(self.work.splits),
            "budget": self.budget.to_json(),
            "evaluations": self.work.to_json(),
            "each_evaluation": self.price.to_json(),
            "max_calls": self.max_calls,
            "max_cost_usd": self.max_cost_usd,
        }
