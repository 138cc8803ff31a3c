"""Suite: the dataset, scorers and policy that an agent is measured with."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from burnish.domain import SPLITS, Item, UsageError
from burnish.evaluation.datasets import Dataset
from burnish.evaluation.refine import RefinePlan
from burnish.evaluation.scorers import ScorerSet
from burnish.evaluation.split import assign_splits
from burnish.support.number_checks import is_whole

MODES = ("llm", "schema")


@dataclass(frozen=True, slots=True, kw_only=True)
class SuitePolicy:
    """How often each item runs, what counts as passed, how rows are split."""

    repeats: int = 1
    pass_threshold: float = 1.0
    mode: str = "llm"
    split: Mapping[str, float] | str | None = None
    split_seed: int = 0
    stratify_by: str | None = None

    def __post_init__(self) -> None:
        if not is_whole(self.repeats, least=1):
            raise _bad("repeats", f"{self.repeats!r} is not a whole number from 1 up")
        if not isinstance(self.pass_threshold, (int, float)) or not math.isfinite(
            self.pass_threshold
        ):
            raise _bad("pass_threshold", f"{self.pass_threshold!r} is not a finite number")
        if self.mode not in MODES:
            raise _bad("mode", f"{self.mode!r} is neither {MODES[0]!r} nor {MODES[1]!r}")

    def to_json(self) -> dict[str, Any]:
        """What is recorded with an experiment."""
        split = dict(self.split) if isinstance(self.split, Mapping) else self.split
        return {
            "repeats": self.repeats,
            "pass_threshold": self.pass_threshold,
            "mode": self.mode,
            "split": split,
            "split_seed": self.split_seed,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A dataset with its scorers and policy, and how single outputs are refined, if they are."""

    name: str
    dataset: Dataset
    scorers: ScorerSet
    policy: SuitePolicy = field(default_factory=SuitePolicy)
    refine: RefinePlan | None = None

    def for_trials(self) -> Suite:
        """The suite as an optimization runs it: refined only where that is asked for."""
        if self.refine is None or self.refine.policy.trials:
            return self
        return replace(self, refine=None)

    def splits(self) -> Mapping[str, str]:
        """The split of each item id; empty when the suite is not split."""
        if self.policy.split is None:
            return {}
        return assign_splits(
            self.dataset,
            self.policy.split,
            seed=self.policy.split_seed,
            stratify_by=self.policy.stratify_by,
        )

    def items(self, split: str | None = None) -> Iterator[Item]:
        """The items of one split, or all; each read afresh from the dataset."""
        if split is None:
            yield from self.dataset.items()
            return
        if split not in SPLITS:
            raise _bad("split", f"{split!r} is none of {', '.join(SPLITS)}")
        chosen = self.splits()
        if not chosen:
            raise UsageError(
                what=f"there is no split {split!r}",
                why=f"the suite {self.name!r} is not split",
                fix='add split = { train = 0.4, validation = 0.4, test = 0.2 } or split = "field"',
                code="no_split",
            )
        for item in self.dataset.items():
            if chosen.get(item.id) == split:
                yield item


def _bad(name: str, why: str) -> UsageError:
    return UsageError(
        what=f"the suite's {name} cannot be used",
        why=why,
        fix=f"correct {name} in [suite]",
        code="invalid_suite",
    )
