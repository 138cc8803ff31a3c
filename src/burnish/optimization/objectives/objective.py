"""What "better" means: the score alone, or the score against tokens, cost and latency."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from burnish.domain import UsageError
from burnish.optimization.objectives.front import MEASURES, Measures

DEFAULT_TOLERANCE = 0.01

_WHY = {
    "tokens": "is unknown: the agent reports no usage",
    "cost": "is unknown: the agent reports no usage, or the price of a model is not known",
    "latency": "is unknown: nothing was answered",
}
_FIXES = {
    "tokens": "return burnish.AgentOutput(text=…, spending=…) from the agent",
    "cost": "set input_price and output_price in [models], or name tokens in place of cost",
    "latency": "name tokens in place of latency",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """Weights, or the measures of a Pareto front; with neither, the score alone.

    A weight is how much score one gives for a 100% change of a measure against the baseline. Of a
    front, the cheapest point counts whose score is within `tolerance` of the best.
    """

    weights: Mapping[str, float] = field(default_factory=dict)
    pareto: tuple[str, ...] = ()
    tolerance: float = DEFAULT_TOLERANCE

    @property
    def kind(self) -> str:
        """`score`, `weighted` or `pareto`."""
        return "pareto" if self.pareto else "weighted" if self.weights else "score"

    @property
    def measures(self) -> tuple[str, ...]:
        """What counts besides the score, the leading one first."""
        return self.pareto or tuple(name for name in MEASURES if name in self.weights)

    @property
    def front_measures(self) -> tuple[str, ...]:
        """What a front is made of: without an objective, score against tokens."""
        return self.measures or ("tokens",)

    @property
    def perfect_score(self) -> float | None:
        """What nothing can be better than; a perfect score may still be had cheaper."""
        return None if self.measures else 1.0

    def to_json(self) -> dict[str, Any]:
        """What `of_json` reads."""
        return {
            "kind": self.kind,
            "weights": dict(self.weights),
            "pareto": list(self.pareto),
            "tolerance": self.tolerance if self.pareto else None,
        }

    @classmethod
    def of_json(cls, value: Mapping[str, Any] | None) -> Objective:
        """From its stored form; the score alone where there is none."""
        if not value:
            return cls()
        tolerance = value.get("tolerance")
        return cls(
            weights=dict(value.get("weights") or {}),
            pareto=tuple(value.get("pareto") or ()),
            tolerance=DEFAULT_TOLERANCE if tolerance is None else tolerance,
        )

    def in_words(self) -> str:
        """For people."""
        if self.pareto:
            asked = ", ".join(self.pareto)
            return f"the least {asked} with a score within {self.tolerance:g} of the best"
        if self.weights:
            terms = (f" − {self.weights[name]:g} × {name}" for name in self.measures)
            return f"score{''.join(terms)}, relative to the baseline"
        return "the score"

    def require(self, baseline: Measures) -> None:
        """Refuse what the baseline shows to be unknown: nothing is ever taken for 0."""
        for name in self.measures:
            value = baseline.of_name(name)
            if value is None:
                raise unmeasured(f"the {name} of the baseline {_WHY[name]}", _FIXES[name])
            if value == 0 and self.weights:
                raise unmeasured(
                    f"the {name} of the baseline is 0, and weights are relative to it",
                    f"weigh another measure than {name}, or use pareto",
                )


def unmeasured(why: str, fix: str) -> UsageError:
    """An objective of something that is not known."""
    return UsageError(
        what="the optimizer's objective cannot be used",
        why=why,
        fix=f"{fix}; then start a new optimization",
        code="unmeasured_objective",
    )
