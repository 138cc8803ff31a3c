"""Mirror documents: our records in Opik's words, with ids that stay the same."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from burnish.domain import (
    Candidate,
    Experiment,
    ExperimentStatus,
    ExperimentType,
    Item,
    ItemResult,
    OptimizationRecord,
    OptimizationStatus,
)

_VERSION = 7
_STATUSES = {OptimizationStatus.FAILED: "error"}


def made_id(kind: str, *parts: str, milliseconds: int) -> str:
    """The id of a thing of ours. Things sort by the milliseconds, which are not exact for all."""
    digest = hashlib.sha256("\x1f".join((kind, *parts)).encode("utf-8", "surrogatepass")).digest()
    value = (milliseconds & (2**48 - 1)) << 80 | int.from_bytes(digest[:10], "big")
    value = value & ~(0xF << 76) | _VERSION << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return str(uuid.UUID(int=value))


def usable_id(identity: str, kind: str, *, milliseconds: int) -> str:
    """Our own id where a server takes it, else one made from it."""
    try:
        own = uuid.UUID(identity)
    except ValueError:
        return made_id(kind, identity, milliseconds=milliseconds)
    if own.version == _VERSION and str(own) == identity:
        return identity
    return made_id(kind, identity, milliseconds=milliseconds)


def milliseconds_of(stamp: str) -> int:
    """Of a time as it is stored."""
    return int(datetime.fromisoformat(stamp).timestamp() * 1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpikWords:
    """Says one optimization in them. What is said twice has the same ids, and counts once."""

    record: OptimizationRecord
    dataset_name: str
    project: str

    @property
    def _began(self) -> int:
        return milliseconds_of(self.record.created_at)

    def row(self, item: Item) -> dict[str, Any]:
        """A row of the dataset. Our id stands in the data: a server wants one of its own kind."""
        split = {} if item.split is None else {"split": item.split}
        data = {**item.data, "id": item.id, **split}
        return {"id": self.row_id(item.id), "source": "sdk", "data": data}

    def row_id(self, item_id: str) -> str:
        """The server's id of a row; the same for all runs on one dataset."""
        return made_id("row", self.dataset_name, item_id, milliseconds=0)

    def optimization(self) -> dict[str, Any]:
        """The optimization, as it begins."""
        record = self.record
        return {
            "id": self.optimization_id,
            "name": record.name,
            "dataset_name": self.dataset_name,
            "project_name": self.project,
            "objective_name": record.objective_name,
            "status": "running",
            "metadata": {
                "optimizer": record.optimizer_name,
                "agent_name": record.agent_name,
                "suite_name": record.suite_name,
                "seed": record.seed,
                "source": "burnish",
            },
        }

    @property
    def optimization_id(self) -> str:
        """The server's id of it."""
        return usable_id(self.record.id, "optimization", milliseconds=self._began)

    def status(self) -> dict[str, Any]:
        """How it stands now."""
        status, error = self.record.status, self.record.framework_error or {}
        told: dict[str, Any] = {"status": _STATUSES.get(status, status.value)}
        if status is OptimizationStatus.FAILED:
            told["error_info"] = _error_info(str(error.get("code")), str(error.get("message")))
        return told

    def experiment(self, experiment: Experiment, candidate: Candidate) -> dict[str, Any]:
        """An experiment that has ended, with what says whose it is."""
        # A pruned trial has a score of some items only: as a trial, Opik might call it the best.
        pruned = experiment.status is ExperimentStatus.PRUNED
        kind = ExperimentType.MINI_BATCH if pruned else experiment.type
        metadata: dict[str, Any] = {
            "candidate_id": candidate.id,
            "candidate_number": candidate.number,
            "mask_id": candidate.mask_id,
            "step_index": candidate.step_index,
            "parent_candidate_ids": list(candidate.parent_candidate_ids),
            "candidate_config_hash": candidate.configuration.hash,
            "rationale": candidate.rationale,
            "configuration": experiment.configuration.to_json(),
            "trial_status": experiment.status.value,
        }
        for name in ("trial_error", "role"):
            if experiment.metadata.get(name) is not None:
                metadata[name] = experiment.metadata[name]
        return {
            "id": self.experiment_id(experiment, candidate),
            "name": experiment.name,
            "dataset_name": self.dataset_name,
            "project_name": self.project,
            "optimization_id": self.optimization_id,
            "type": kind.value,
            "metadata": metadata,
        }

    def experiment_id(self, experiment: Experiment, candidate: Candidate) -> str:
        """The server's id of it; experiments sort as their candidates do."""
        return usable_id(
            experiment.id, "experiment", milliseconds=self._began + 1 + candidate.number
        )

    def items(
        self, experiment: Experiment, candidate: Candidate, results: Sequence[ItemResult]
    ) -> RunDocuments:
        """What some items came to."""
        whole = self.experiment_id(experiment, candidate)
        scored = experiment.status in (ExperimentStatus.COMPLETED, ExperimentStatus.PRUNED)
        began = datetime.fromisoformat(experiment.created_at)
        found = RunDocuments([], [], [], [])
        for one in results:
            # Repeats sort by their number.
            at = milliseconds_of(experiment.created_at) + one.repeat
            parts = (experiment.id, one.item_id, str(one.repeat))
            trace = made_id("trace", *parts, milliseconds=at)
            row = self.row_id(one.item_id)
            found.traces.append(self._trace(trace, one, began))
            found.items.append(
                {
                    "id": made_id("item", *parts, milliseconds=at),
                    "experiment_id": whole,
                    "dataset_item_id": row,
                    "trace_id": trace,
                    "project_name": self.project,
                }
            )
            if one.spending.by_purpose:
                span = made_id("span", *parts, milliseconds=at)
                found.spans.append(self._span(span, trace, one, began))
            if scored:
                found.scores.extend(self._scores(trace, one))
        return found

    def _trace(self, trace: str, result: ItemResult, began: datetime) -> dict[str, Any]:
        output, error = result.output, result.error
        told: dict[str, Any] = {
            "id": trace,
            "project_name": self.project,
            "name": "burnish item",
            **_times(began, result),
            "input": {"item_id": result.item_id, "repeat": result.repeat},
            "output": None if output is None else {"output": output.text},
            "metadata": {
                "cached": result.cached,
                "data": None if output is None else output.data,
                "trace": None if output is None else output.trace,
            },
            "source": "optimization",
        }
        if error is not None:
            told["error_info"] = _error_info(error.kind.value, error.message)
        return told

    def _span(self, span: str, trace: str, result: ItemResult, began: datetime) -> dict[str, Any]:
        total = result.spending.total
        told: dict[str, Any] = {
            "id": span,
            "trace_id": trace,
            "project_name": self.project,
            "name": "model calls",
            "type": "llm",
            **_times(began, result),
            "usage": {
                "prompt_tokens": total.input_tokens,
                "completion_tokens": total.output_tokens,
                "total_tokens": total.input_tokens + total.output_tokens,
            },
            "metadata": {"calls": total.calls},
            "source": "optimization",
        }
        if total.cost_usd is not None:
            told["total_estimated_cost"] = total.cost_usd
        return told

    def _scores(self, trace: str, result: ItemResult) -> list[dict[str, Any]]:
        """Every score, and the one that the optimization is for under its own name."""
        named = {one.name: (one.value, one.reason) for one in result.scores if one.error is None}
        reason = named.get(self.record.objective_name, (0.0, ""))[1]
        named[self.record.objective_name] = (result.score, reason)
        return [
            {
                "id": trace,
                "project_name": self.project,
                "name": name,
                "value": value,
                "reason": why or None,
                "source": "sdk",
            }
            for name, (value, why) in named.items()
        ]


@dataclass(frozen=True, slots=True)
class RunDocuments:
    """What a server is told of some items."""

    traces: list[dict[str, Any]]
    spans: list[dict[str, Any]]
    scores: list[dict[str, Any]]
    items: list[dict[str, Any]]


def _times(began: datetime, result: ItemResult) -> dict[str, str]:
    """Only how long it took is known of an item; it is placed where its experiment began."""
    ended = began + timedelta(milliseconds=max(result.latency_ms, 0.0))
    return {"start_time": began.isoformat(), "end_time": ended.isoformat()}


def _error_info(kind: str, message: str) -> dict[str, str]:
    return {"exception_type": kind, "message": message, "traceback": ""}
