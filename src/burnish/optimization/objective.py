"""What "better" means: the score alone, or the score against tokens, cost and latency."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from burnish.domain import UsageError
from burnish.optimization.objectives.front import MEASURES, Measures
from burnish.support.number_checks import is_number

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


_PARETO_KEYS = ("pareto", "tolerance")


def read_objective(value: Objective | Mapping[str, Any] | None) -> Objective:
    """From `objective` in `[optimizer]`; UsageError says what is wrong with it."""
    if isinstance(value, Objective):
        return value
    if value is None:
        return Objective()
    if not isinstance(value, Mapping):
        raise _bad(f"{value!r} is not a table", "write it like objective = { tokens = 0.1 }")
    for name in value:
        if name not in (*MEASURES, *_PARETO_KEYS):
            raise _bad(f"there is no {name!r}{_nearest(name, _PARETO_KEYS)}", _known(name))
    weights = {name: _weight(name, one) for name, one in value.items() if name in MEASURES}
    if "pareto" not in value:
        if "tolerance" in value:
            raise _bad(
                "a tolerance is of a Pareto front, and none is asked for",
                'add pareto = ["tokens"], or leave tolerance out',
            )
        return Objective(weights=weights)
    if weights:
        raise _bad(
            f"it has weights ({', '.join(weights)}) and pareto",
            "keep one of them: weights give one number, pareto a front",
        )
    tolerance = value.get("tolerance", DEFAULT_TOLERANCE)
    return Objective(pareto=_front_measures(value["pareto"]), tolerance=_tolerance(tolerance))


def _weight(name: str, value: Any) -> float:
    if not is_number(value) or not value > 0:
        raise _bad(
            f"the weight of {name} is {value!r}, not a number above 0",
            f"write it like objective = {{ {name} = 0.1 }}: the score to give for a 100% change",
        )
    return float(value)


def _tolerance(value: Any) -> float:
    if not is_number(value) or value < 0:
        raise _bad(
            f"the tolerance is {value!r}, not a number from 0 up",
            f"write it like tolerance = {DEFAULT_TOLERANCE}",
        )
    return float(value)


def _front_measures(value: Any) -> tuple[str, ...]:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, Sequence) or not names:
        raise _bad(f"pareto is {value!r}, not a list of measures", 'write pareto = ["tokens"]')
    for name in names:
        if not isinstance(name, str) or name not in MEASURES:
            raise _bad(f"pareto names {name!r}{_nearest(name)}", _known(name))
    if len(set(names)) < len(names):
        raise _bad(f"pareto names a measure twice: {', '.join(names)}", "name each once")
    return tuple(names)


def _nearest(name: Any, more: Sequence[str] = ()) -> str:
    close = difflib.get_close_matches(str(name), [*MEASURES, *more], n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else ""


def _known(name: Any) -> str:
    if name == "score":
        return "leave it out: the score always counts in full"
    return f"measures are {', '.join(MEASURES)}; weigh them, or list them in pareto"


def _bad(why: str, fix: str) -> UsageError:
    return UsageError(
        what="the optimizer's objective cannot be used", why=why, fix=fix, code="invalid_optimizer"
    )
