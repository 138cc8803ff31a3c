"""Conditions that a result must meet for the command to end well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from burnish.app.evaluate.result import EvaluationResult
from burnish.cli.eval_request import EvalRequest

# Means of decimal fractions land a hair below what they are on paper.
_SLACK = 1e-9
_SIGNIFICANT = 0.05


@dataclass(frozen=True, slots=True)
class Gate:
    """One condition and whether it was met."""

    name: str
    passed: bool
    words: str

    def to_json(self) -> dict[str, Any]:
        """As `eval --json` prints it."""
        return {"name": self.name, "passed": self.passed, "message": self.words}


def check_gates(request: EvalRequest, result: EvaluationResult) -> list[Gate]:
    """Every gate that was asked for."""
    gates: list[Gate] = []
    if request.min_score is not None:
        passed = result.score >= request.min_score - _SLACK
        relation = "reaches" if passed else "is below"
        words = f"the score {result.score:.4g} {relation} --min-score {request.min_score:g}"
        gates.append(Gate("min_score", passed, words))
    if request.fail_on_regression and result.comparison is not None:
        change = result.comparison
        worse = change.delta < 0 and change.p_value < _SIGNIFICANT
        relation = "is worse than" if worse else "is not clearly worse than"
        words = (
            f"it {relation} the baseline: {change.delta:+.4g}, p = {change.p_value:.3g}, "
            f"{change.worsened} worsened and {change.improved} improved"
        )
        gates.append(Gate("no_regression", not worse, words))
    return gates
