"""An objective as people write it, read and checked."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from typing import Any

from burnish.domain import UsageError
from burnish.optimization.objectives.front import MEASURES
from burnish.optimization.objectives.objective import DEFAULT_TOLERANCE, Objective

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
    if not _is_number(value) or not value > 0:
        raise _bad(
            f"the weight of {name} is {value!r}, not a number above 0",
            f"write it like objective = {{ {name} = 0.1 }}: the score to give for a 100% change",
        )
    return float(value)


def _tolerance(value: Any) -> float:
    if not _is_number(value) or value < 0:
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


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


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
