"""Options of `burnish eval`, checked, as overrides of the config, and the gates they set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from burnish.app.evaluate.result import EvaluationResult
from burnish.cli.options import assigned
from burnish.domain import Budget, UsageError
from burnish.domain.wording import p_relation
from burnish.evaluation.broken_items import RERUNS, BrokenItems
from burnish.evaluation.statistics import PairedComparison

# Means of decimal fractions land a hair below what they are on paper.
_SLACK = 1e-9
_MOST_SHOWN = 10
_LIMITS = {
    name: f"--{name.removesuffix('_usd').replace('_', '-')}" for name in Budget.__dataclass_fields__
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RefineOptions:
    """How outputs are refined; None means that the config decides."""

    model: str | None = None
    limit: int | None = None
    threshold: float | None = None
    answer: str | None = None

    def given(self) -> dict[str, Any]:
        """What was named, by its name in [suite.refine]."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalRequest:
    """The options of one evaluation; None means that the config decides."""

    split: str | None = None
    limit: int | None = None
    repeats: int | None = None
    filter_failing: str | None = None
    resume: str | None = None
    retry_errors: str | None = None
    model: str | None = None
    settings: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    agent_version: str | None = None
    refine: RefineOptions = field(default_factory=RefineOptions)
    budget: Budget = field(default_factory=Budget)
    concurrency: int | None = None
    batch: bool = False
    timeout: float | None = None
    use_cache: bool = True
    name: str | None = None
    baseline: str | None = None
    min_score: float | None = None
    fail_on_regression: bool = False
    fail_on_broken_item: bool = False
    reruns: int = RERUNS

    def __post_init__(self) -> None:
        _check_continuation(self)
        gates = {
            "--fail-on-regression": self.fail_on_regression,
            "--fail-on-broken-item": self.fail_on_broken_item,
        }
        for option, given in gates.items():
            if given and self.baseline is None:
                raise _contradiction(
                    f"{option} has nothing to compare with", "add --baseline EXPERIMENT"
                )

    @property
    def continued(self) -> str | None:
        """The experiment that is gone on with, rather than a new one started."""
        return self.resume or self.retry_errors

    def overrides(self) -> dict[str, Any]:
        """The options that change the config, by dotted path."""
        chosen = assigned(self.settings, self.sections)
        direct = {
            "agent.model": self.model,
            "suite.repeats": self.repeats,
            "agent.concurrency": self.concurrency,
            "models.batch": self.batch or None,
            "agent.timeout_seconds": self.timeout,
            **{f"suite.refine.{name}": value for name, value in self.refine.given().items()},
        }
        return {**chosen, **{path: value for path, value in direct.items() if value is not None}}

    def continuing_with(self, experiment_id: str, option: str = "--resume") -> list[str]:
        """The arguments that go on with an experiment under the same configuration."""
        words = ["eval", option, experiment_id]
        pairs: Sequence[tuple[str, Any]] = (
            ("--model", self.model),
            *(("--set", given) for given in self.settings),
            *(("--section", given) for given in self.sections),
            ("--agent-version", self.agent_version),
            *((f"--refine-{name}", value) for name, value in self.refine.given().items()),
            ("--repeats", self.repeats),
            *((_LIMITS[name], value) for name, value in self.budget.to_json().items()),
            ("--concurrency", self.concurrency),
            ("--timeout", self.timeout),
        )
        for name, value in pairs:
            if value is not None:
                words += [name, str(value)]
        words += ["--batch"] if self.batch else []
        return words if self.use_cache else [*words, "--no-cache"]


def _check_continuation(request: EvalRequest) -> None:
    if request.resume and request.retry_errors:
        raise _contradiction("--resume and --retry-errors exclude each other", "give one of them")
    if request.continued is None:
        return
    option = "--resume" if request.resume else "--retry-errors"
    clashing = {
        "--split": request.split,
        "--limit": request.limit,
        "--filter-failing": request.filter_failing,
        "--name": request.name,
    }
    for name, value in clashing.items():
        if value is not None:
            raise _contradiction(
                f"{option} and {name} exclude each other", "the experiment keeps its items and name"
            )


def _contradiction(why: str, fix: str) -> UsageError:
    return UsageError(what="the options cannot be used", why=why, fix=fix, code="bad_usage")


@dataclass(frozen=True, slots=True)
class Gate:
    """One condition and whether it was met."""

    name: str
    passed: bool
    words: str

    def to_json(self) -> dict[str, Any]:
        """As `eval --json` prints it."""
        return {"name": self.name, "passed": self.passed, "message": self.words}


def regression_gate(change: PairedComparison) -> Gate:
    """Whether it is not worse than the baseline beyond chance."""
    relation = "is worse than" if change.regressed else "is not clearly worse than"
    words = (
        f"it {relation} the baseline: {change.delta:+.4g}, {p_relation(change.p_value)}, "
        f"{change.worsened} worsened and {change.improved} improved"
    )
    return Gate("no_regression", not change.regressed, words)


def broken_items_gate(broken: BrokenItems) -> Gate:
    """Whether every item that passed with the baseline still does, as far as it ever did."""
    return Gate("no_broken_item", broken.passed, broken.in_words(_MOST_SHOWN))


def check_gates(request: EvalRequest, result: EvaluationResult) -> list[Gate]:
    """Every gate that was asked for."""
    gates: list[Gate] = []
    if request.min_score is not None:
        score = result.score
        passed = score is not None and score >= request.min_score - _SLACK
        relation = "reaches" if passed else "is below"
        words = f"the score {score:.4g} {relation}" if score is not None else "no score reaches"
        words = f"{words} --min-score {request.min_score:g}"
        gates.append(Gate("min_score", passed, words))
    if request.fail_on_regression and result.comparison is not None:
        gates.append(regression_gate(result.comparison))
    if request.fail_on_broken_item and result.broken is not None:
        gates.append(broken_items_gate(result.broken))
    planned = result.experiment.planned_items
    if gates and result.experiment.limit_reached is not None:
        words = f"the budget ended it after {result.items} of {planned} runs"
        gates.append(Gate("complete", passed=False, words=words))
    return gates
