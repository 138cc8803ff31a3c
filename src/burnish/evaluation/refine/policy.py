"""Refine policy: what a user decides in `[suite.refine]`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from burnish.domain import AnswerChoice, Json, Model, UsageError
from burnish.domain.experiments.refinement import PERFECT_SCORE
from burnish.support.number_checks import is_number, is_whole


@dataclass(frozen=True, slots=True, kw_only=True)
class RefinePolicy:
    """How often an output may be written anew, by which model, and when it is good enough.

    `model` is the optimizer: a name, a Model or a function. `limit` is a hard cap for each output,
    and 0 switches refinement off. From `threshold` on nothing is refined; without one only a
    perfect score ends it early. `answer` is the round that counts. `trials` refines in optimizations
    too. `fields` are the item's fields that the optimizer sees besides output and evaluation; None
    means those that the agent's own prompt shows. `parameters` go to the model.
    """

    model: str | Model | Callable[[str], str] | None = None
    limit: int = 0
    threshold: float | None = None
    answer: AnswerChoice = AnswerChoice.LATEST
    trials: bool = False
    fields: Sequence[str] | None = None
    parameters: Mapping[str, Json] | None = None

    def __post_init__(self) -> None:
        if not is_whole(self.limit, least=0):
            raise _bad("limit", f"{self.limit!r} is not a whole number from 0 up")
        if self.threshold is not None and not is_number(self.threshold):
            raise _bad("threshold", f"{self.threshold!r} is not a finite number")
        choices = [choice.value for choice in AnswerChoice]
        if self.answer not in choices:
            raise _bad("answer", f"{self.answer!r} is none of {', '.join(choices)}")
        object.__setattr__(self, "answer", AnswerChoice(self.answer))
        if not isinstance(self.trials, bool):
            raise _bad("trials", f"{self.trials!r} is neither true nor false")
        named = self.fields
        if named is not None and (
            isinstance(named, str) or not all(isinstance(one, str) for one in named)
        ):
            raise _bad("fields", f"{named!r} is not a list of names")

    @classmethod
    def of(cls, value: RefinePolicy | Mapping[str, Any] | None) -> RefinePolicy | None:
        """From a table; None stays None."""
        if value is None or isinstance(value, RefinePolicy):
            return value
        known = [one.name for one in fields(cls)]
        for name in value:
            if name not in known:
                raise _bad(str(name), f"there is no such setting; there are {', '.join(known)}")
        return cls(**value)

    @property
    def target(self) -> float:
        """The score from which an output is good enough."""
        return PERFECT_SCORE if self.threshold is None else self.threshold


def _bad(name: str, why: str) -> UsageError:
    return UsageError(
        what=f"the refinement's {name} cannot be used",
        why=why,
        fix=f"correct {name} in [suite.refine]",
        code="invalid_refine",
    )
