"""How much an optimization would run, known before it does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from burnish.domain import SPLITS, Budget, Usage, UsageError
from burnish.evaluation.suite import Suite


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
