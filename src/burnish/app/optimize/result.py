"""What an optimization came to, for Python callers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from burnish.app.report.tabular import Tabular, cost_words
from burnish.domain import (
    Candidate,
    Configuration,
    OptimizationRecord,
    OptimizationStatus,
    TrialResult,
)
from burnish.domain.wording import counted, p_relation
from burnish.evaluation.looks import SIGNIFICANT

if TYPE_CHECKING:
    from burnish.app.report.html.notebook import Plot


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A candidate with its score on the items of the search."""

    candidate_id: str
    score: float
    configuration: Configuration


@dataclass(frozen=True, slots=True, kw_only=True)
class Improvement:
    """The paired difference of winner and baseline, held-out where there is a test split."""

    delta: float
    ci_low: float
    ci_high: float
    p_value: float
    fixed: int
    broken: int
    held_out: bool
    # What so many items can show; None for too few, and in runs of older versions.
    detectable: float | None = None
    # Pairs that were compared, and those left out because an answer never came.
    items: int = 0
    missing: int = 0
    # Which comparison on these held-out items it is, and how small p has to be for that.
    look: int = 1
    level: float = SIGNIFICANT


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressStep:
    """A new best, and how many evaluations it took to find it."""

    evaluations: int
    best_candidate_id: str
    best_score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontPoint:
    """A candidate with its score and what one evaluation of it takes; None is unknown.

    `model` is the one that its configuration names, where the run could choose.
    """

    candidate_id: str
    number: int
    score: float
    tokens: float | None
    cost_usd: float | None
    latency_ms: float | None
    utility: float | None = None
    model: str | None = None

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> FrontPoint:
        """From the result's document."""
        return cls(**{name: value[name] for name in cls.__slots__ if name in value})


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizationResult(Tabular):
    """The outcome of one optimization; `document` is what `--json` prints."""

    record: OptimizationRecord
    document: Mapping[str, Any]
    candidates: Mapping[str, Candidate]
    trials: Sequence[TrialResult]

    @property
    def optimization_id(self) -> str:
        """The optimization's id."""
        return self.record.id

    @property
    def seed(self) -> int:
        """What it drew by: the one that was given, or its own."""
        return self.record.seed

    @property
    def status(self) -> OptimizationStatus:
        """How it ended."""
        return self.record.status

    @property
    def stop_reason(self) -> str | None:
        """Why it ended."""
        return self.record.stop_reason

    @property
    def baseline(self) -> Scored:
        """The configuration as it was given."""
        return self._scored(self.document["baseline"])

    @property
    def best(self) -> Scored:
        """The winner; the baseline when nothing beat it."""
        return self._scored(self.document["best"])

    @property
    def passed_over(self) -> Sequence[str]:
        """Candidates that were to win and that held-out items speak against."""
        return tuple(self.document.get("passed_over") or ())

    @property
    def overruled(self) -> Mapping[str, Any] | None:
        """Who is not the winner though it scored higher, or though the optimizer chose it."""
        return self.document.get("overruled")

    @property
    def improved(self) -> bool:
        """Whether a candidate beat the baseline on the items of the search."""
        return bool(self.document["improved"])

    @property
    def why_not_improved(self) -> str | None:
        """Why the baseline is the result, when it is."""
        return self.document["why_not_improved"]  # type: ignore[no-any-return]

    @property
    def improvement(self) -> Improvement | None:
        """The difference with its interval; None when it could not be confirmed."""
        value = self.document["improvement"]
        return None if value is None else Improvement(**value)

    @property
    def test(self) -> Mapping[str, float] | None:
        """Held-out scores of the baseline and the winner."""
        return self.document["test"]  # type: ignore[no-any-return]

    @property
    def usage(self) -> Mapping[str, Any]:
        """What was spent, in total and by purpose."""
        return self.document["usage"]  # type: ignore[no-any-return]

    @property
    def objective(self) -> Mapping[str, Any]:
        """What counted, the point that was chosen by it, and the baseline's measures."""
        return self.document.get("objective") or {"kind": "score", "front": []}

    @property
    def front(self) -> Sequence[FrontPoint]:
        """Candidates that no other beats in score and in what counts besides, from cheap to dear."""
        return tuple(FrontPoint.of(one) for one in self.objective["front"])

    @property
    def evaluations(self) -> int:
        """Item runs that this optimization needed."""
        return int(self.document["evaluations"])

    @property
    def progress(self) -> Sequence[ProgressStep]:
        """One point at each new best, the baseline first."""
        return tuple(ProgressStep(**point) for point in self.document["progress"])

    def to_json(self) -> dict[str, Any]:
        """The document that `burnish optimize --json` prints."""
        return {**self.document, "seed": self.seed}

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Every trial, the baseline first: what was tried, and what it came to."""
        return [self._row(one) for one in self.trials]

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows."""
        return self.rows

    def to_html(self) -> str:
        """Verdict, chart, the prompt's changes and trials, as a notebook shows it."""
        from burnish.app.report.html.notebook import optimization_html  # noqa: PLC0415 - when shown

        return optimization_html(self)

    def plot(self) -> Plot:
        """Score by trial with the best so far: notebooks show it, and `save` writes an SVG file."""
        from burnish.app.report.html.notebook import score_plot  # noqa: PLC0415 - when shown

        return score_plot(self)

    def __repr__(self) -> str:
        record, proof = self.record, self.improvement
        why = f", {self.stop_reason}" if self.stop_reason else ""
        lines = [f"OptimizationResult({record.id}: {record.name}, {self.status.value}{why})"]
        first, best = self.document["baseline"], self.document["best"]
        known = first is not None and best is not None
        lines.append(
            f"search {first['score']:.3f} → {best['score']:.3f}" if known else "no score yet"
        )
        if self.why_not_improved:
            lines.append(self.why_not_improved)
        elif proof is not None:
            where = "held-out items" if proof.held_out else "items of the search"
            lines.append(
                f"{proof.delta:+.3f} on {proof.items:,} {where} (95% interval {proof.ci_low:+.3f} to "
                f"{proof.ci_high:+.3f}, {p_relation(proof.p_value)})"
            )
        cost = cost_words(self.usage["cost_usd"])
        lines.append(
            f"{counted(self.document['trials'], 'trial')}, "
            f"{counted(self.evaluations, 'evaluation')}, {cost}"
        )
        return "\n  ".join(lines)

    def _row(self, trial: TrialResult) -> dict[str, Any]:
        candidate, summary = self.candidates[trial.candidate_id], trial.summary
        return {
            "number": candidate.number,
            "candidate_id": candidate.id,
            "experiment_id": trial.experiment_id,
            "status": trial.status.value,
            "score": trial.objective_score,
            "items": summary.total_items,
            "passed": summary.passed_items,
            "errors": summary.error_items,
            "model": candidate.configuration.model,
            "cost_usd": summary.total_cost,
            "avg_tokens": summary.avg_tokens,
            "avg_latency_ms": summary.avg_latency_ms,
            "step": candidate.step_index,
            "parents": [
                self.candidates[one].number
                for one in candidate.parent_candidate_ids
                if one in self.candidates
            ],
            "rationale": candidate.rationale,
            "error": trial.error,
        }

    def _scored(self, value: Mapping[str, Any]) -> Scored:
        return Scored(
            candidate_id=value["candidate_id"],
            score=value["score"],
            configuration=self.candidates[value["candidate_id"]].configuration,
        )
