"""Plan of an optimization: what it would run and cost; nothing is called and nothing is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from burnish.app.optimize.batch_notes import batch_notes
from burnish.app.optimize.cost_estimate import (
    CostEstimate,
    CostRange,
    estimate_cost,
    estimate_questions,
    growth_of,
)
from burnish.app.optimize.model_choices import chosen_models
from burnish.config.schema import Settings
from burnish.config.search import SearchSpec
from burnish.domain import SPLITS, Agent, Budget, Optimizer, Purpose, RunContext, Usage, UsageError
from burnish.domain.wording import counted
from burnish.evaluation.agents import ToolAgent
from burnish.evaluation.power import detectable_gain
from burnish.evaluation.suite import Suite
from burnish.optimization.confirmation import kept_back
from burnish.optimizers.auto.choosing import Choice, choose
from burnish.optimizers.shared.asking import QuestionForecast

# Those whose every candidate is a trial. Others run some items of many candidates besides: `gepa`
# about two trials' worth for each trial.
_TRIALS_ALONE = ("edits", "few_shot", "grid", "parameters", "random")
_TRIALS_WORTH = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedWork:
    """Evaluations: item runs, of which cached ones cost nothing.

    `most` is None without a limit; `about` is what limits of trials come to where more than trials
    is run.
    """

    splits: Mapping[str, int]
    each_trial: int
    confirmation: int
    max_trials: int | None
    most: int | None
    about: int | None

    @classmethod
    def of(cls, suite: Suite, budget: Budget, search: SearchSpec | None = None) -> PlannedWork:
        """The work of a suite within a budget and the optimizer's own limit."""
        splits = {name: len(ids) for name, ids in split_ids(suite).items()}
        repeats = suite.policy.repeats
        trial, confirmation = splits["validation"] * repeats, 2 * splits["test"] * repeats
        if budget.max_evaluations is not None:
            confirmation = int(kept_back(confirmation, budget.max_evaluations, trial))
        own = None if search is None else search.max_trials
        trials = _least(budget.max_trials, own)
        alone = search is None or search.name in _TRIALS_ALONE or _is_mechanical(search)
        worth = 1 if alone else _TRIALS_WORTH
        found = None if trials is None else trial * (trials * worth + 1) + confirmation
        most = _least(found if alone else None, budget.max_evaluations)
        return cls(
            splits=splits,
            each_trial=trial,
            confirmation=confirmation,
            max_trials=trials,
            most=most,
            about=_least(found, most),
        )

    def to_json(self) -> dict[str, Any]:
        """As `optimize --dry-run --json` prints it."""
        return {
            "baseline": self.each_trial,
            "each_trial": self.each_trial,
            "confirmation": self.confirmation,
            "max_trials": self.max_trials,
            "max": self.most,
            "about": self.about,
        }


def _least(*limits: float | None) -> int | None:
    return min((int(limit) for limit in limits if limit is not None), default=None)


def _is_mechanical(search: SearchSpec) -> bool:
    return search.name == "gepa" and search.settings.get("model") is None


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
            f"{counted(needed, 'evaluation')}",
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """A run before it is one. `questions` is what the optimizer asks a model of its own.

    `chosen` are the optimizers that `auto` would begin with, in their order.
    """

    settings: Settings
    search: SearchSpec
    budget: Budget
    work: PlannedWork
    evaluations: int | None
    each: CostRange
    questions: CostRange | None
    chosen: tuple[Choice, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, settings: Settings, agent: Agent, suite: Suite, optimizer: Optimizer) -> RunPlan:
        """The plan of what was built from the settings."""
        search, budget = SearchSpec.of(settings.optimizer), settings.budget_spec()
        require_room(suite, budget)
        work, growth = PlannedWork.of(suite, budget, search), growth_of(search, agent, suite)
        names = tuple(chosen_models(search, agent))
        each = estimate_cost(agent, suite, settings.models, growth=growth, models=names)
        evaluations = _least(work.about, *_paid_by(budget, each.least))
        model, questions = search.settings.get("model"), None
        if isinstance(model, str):
            times = None
            if isinstance(optimizer, QuestionForecast) and evaluations is not None:
                trials = work.max_trials or evaluations // max(work.each_trial, 1)
                times = optimizer.questions(evaluations, trials)
            questions = estimate_questions(
                agent, suite, model, times, settings.models, growth=growth
            )
        return cls(
            settings=settings,
            search=search,
            budget=budget,
            work=work,
            evaluations=evaluations,
            each=each,
            questions=questions,
            chosen=_chosen(search, agent, suite, work, evaluations),
            notes=(
                *search.notes,
                *batch_notes(agent, suite, search, work.splits["validation"]),
            ),
        )

    @property
    def total(self) -> CostRange | None:
        """All of it; None where nothing limits the run."""
        if self.evaluations is None:
            return None
        least, most = self.each.least.times(self.evaluations), self.each.most
        most = None if most is None else most.times(self.evaluations)
        asked = self.questions
        if asked is not None:
            least = least.plus(asked.least)
            most = None if most is None or asked.most is None else most.plus(asked.most)
        return CostRange(
            least=least.within(self.budget), most=None if most is None else most.within(self.budget)
        )

    @property
    def by_purpose(self) -> dict[Purpose, CostRange]:
        """What the agent, judges, refinement and the optimizer take; empty where it is not known."""
        if self.evaluations is None:
            return {}
        runs, budget = self.evaluations, self.budget
        parts = {purpose: one.times(runs, budget) for purpose, one in self.each.parts.items()}
        if parts and self.questions is not None:
            parts[Purpose.PROPOSE] = self.questions.times(1, budget)
        return parts

    def to_json(self) -> dict[str, Any]:
        """As `optimize --dry-run --json` prints it."""
        search, total, asked = self.search, self.total, self.questions
        return {
            "dry_run": True,
            "agent": self.settings.agent.name,
            "optimizer": search.name,
            "chosen": [{"optimizer": one.name, "reason": one.reason} for one in self.chosen],
            "seed": search.seed,
            "racing": search.racing_in_effect.value,
            "objective": search.objective.to_json(),
            "notes": list(self.notes),
            "splits": dict(self.work.splits),
            "detectable": detectable_gain(self.work.splits.get("test", 0)),
            "budget": self.budget.to_json(),
            "evaluations": self.work.to_json(),
            "each_evaluation": self.each.to_json(),
            "questions": None
            if asked is None
            else {"model": search.settings["model"], **asked.to_json()},
            "by_purpose": {name.value: one.to_json() for name, one in self.by_purpose.items()},
            "total": None if total is None else total.to_json(),
        }


def _chosen(
    search: SearchSpec, agent: Agent, suite: Suite, work: PlannedWork, evaluations: int | None
) -> tuple[Choice, ...]:
    """What `auto` would choose by what is known before the run; empty for any other optimizer."""
    if search.name != "auto":
        return ()
    left = None if evaluations is None else evaluations - work.each_trial - work.confirmation
    context = RunContext(
        optimization_id="",
        evaluation_suite_id=suite.name,
        objective_name="",
        baseline_candidate_id="",
        baseline_score=0.0,
        max_candidates_per_step=1,
        baseline=agent.configuration,
        space=search.space,
        splits=split_ids(suite),
        seed=0 if search.seed is None else search.seed,
        labels=tuple(getattr(agent, "labels", ())),
        evaluations_left=None if left is None else max(left, 0),
    )
    return tuple(choose(context, has_model=search.settings.get("model") is not None))


def expected_spending(
    agent: Agent, suite: Suite, tables: Mapping[str, Any], models: Sequence[str] = ()
) -> dict[str, float]:
    """What one evaluation takes at most, by the limit of a budget; without what is not known.

    A tool agent takes far less than all of its steps: what it takes is learnt from what it took.
    """
    if isinstance(agent, ToolAgent):
        return {}
    most = estimate_cost(agent, suite, tables, models=models).most
    if most is None or most.calls is None:
        return {}
    tokens = most.input_tokens + most.output_tokens
    known = {"max_calls": most.calls, "max_tokens": tokens, "max_cost_usd": most.cost_usd}
    return {name: amount for name, amount in known.items() if amount is not None}


def _paid_by(budget: Budget, each: CostEstimate) -> list[float | None]:
    """How many evaluations the limits of calls, tokens and dollars pay for."""
    tokens = each.input_tokens + each.output_tokens
    limits = (
        (budget.max_calls, each.calls),
        (budget.max_tokens, tokens),
        (budget.max_cost_usd, each.cost_usd),
    )
    return [limit / one if limit is not None and one else None for limit, one in limits]
