"""Checkpoint of a run: written after every step, read on resume."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from burnish.domain import ConflictError, OptimizerState, StopReason

VERSION = 1


class Phase(StrEnum):
    """How far a run has come."""

    BASELINE = "baseline"
    SEARCH = "search"
    CONFIRM = "confirm"
    DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """A planned experiment whose result was not observed yet."""

    candidate_id: str
    experiment_id: str
    item_ids: tuple[str, ...] | None = None
    incumbent_experiment_id: str | None = None
    repeats: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressPoint:
    """A new best, and how many evaluations it took."""

    evaluations: int
    best_candidate_id: str
    best_score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The state of a run between two writes; everything else is in the records."""

    phase: Phase = Phase.BASELINE
    step: int = 0
    state: OptimizerState | None = None
    pending: tuple[Pending, ...] = ()
    empty_steps: int = 0
    proposed: int = 0
    rejected: int = 0
    progress: tuple[ProgressPoint, ...] = ()
    own_spending: Mapping[str, Any] = field(default_factory=dict)
    elapsed_seconds: float = 0.0
    stop_reason: StopReason | None = None
    stop_message: str | None = None
    # How many of the test items the budget left room for; fixed when the search ended.
    confirmed_items: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The stored form, with its version."""
        return {
            "version": VERSION,
            "phase": self.phase.value,
            "step": self.step,
            "optimizer_state": None if self.state is None else self.state.to_json(),
            "pending": [
                [p.candidate_id, p.experiment_id, p.item_ids, p.incumbent_experiment_id, p.repeats]
                for p in self.pending
            ],
            "empty_steps": self.empty_steps,
            "proposed": self.proposed,
            "rejected": self.rejected,
            "progress": [[p.evaluations, p.best_candidate_id, p.best_score] for p in self.progress],
            "own_spending": dict(self.own_spending),
            "elapsed_seconds": self.elapsed_seconds,
            "stop_reason": None if self.stop_reason is None else self.stop_reason.value,
            "stop_message": self.stop_message,
            "confirmed_items": self.confirmed_items,
        }

    @classmethod
    def of(cls, value: Mapping[str, Any] | None) -> Checkpoint:
        """From its stored form; another version is refused loudly rather than misread."""
        if value is None:
            return cls()
        if value.get("version") != VERSION:
            raise ConflictError(
                what="the optimization cannot be resumed",
                why=f"its checkpoint has version {value.get('version')!r}, "
                f"and this program reads version {VERSION}",
                fix="resume it with the version of burnish that started it, or start a new one",
                code="checkpoint_version",
            )
        state = value["optimizer_state"]
        reason = value["stop_reason"]
        return cls(
            phase=Phase(value["phase"]),
            step=value["step"],
            state=None if state is None else OptimizerState.of(state),
            pending=tuple(_pending(one) for one in value["pending"]),
            empty_steps=value["empty_steps"],
            proposed=value["proposed"],
            rejected=value["rejected"],
            progress=tuple(
                ProgressPoint(evaluations=p[0], best_candidate_id=p[1], best_score=p[2])
                for p in value["progress"]
            ),
            own_spending=value["own_spending"],
            elapsed_seconds=value["elapsed_seconds"],
            stop_reason=None if reason is None else StopReason(reason),
            stop_message=value["stop_message"],
            # Checkpoints of earlier versions have none.
            confirmed_items=value.get("confirmed_items"),
        )

    def stopped(self, reason: StopReason, message: str | None) -> Checkpoint:
        """The same run, told to end."""
        return replace(self, stop_reason=reason, stop_message=message)


def _pending(value: Any) -> Pending:
    # Checkpoints of earlier versions end before the repeats.
    candidate_id, experiment_id, item_ids, incumbent, *repeats = value
    return Pending(
        candidate_id=candidate_id,
        experiment_id=experiment_id,
        item_ids=None if item_ids is None else tuple(item_ids),
        incumbent_experiment_id=incumbent,
        repeats=repeats[0] if repeats else None,
    )
