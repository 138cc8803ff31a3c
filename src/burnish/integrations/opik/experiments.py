"""Experiments of Opik clients: each is one of ours, and a trial or mini-batch of its optimization."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from burnish.app.optimize.client_lease import OpikLease
from burnish.app.wiring import Workspace
from burnish.domain import (
    ConflictError,
    Experiment,
    ExperimentStatus,
    ExperimentType,
    Lease,
    StepCandidate,
    UsageError,
)
from burnish.domain.opik_records import OpikDataset
from burnish.integrations.opik.candidates import candidate_of
from burnish.integrations.opik.datasets import snapshot
from burnish.integrations.opik.optimizations import OpikOptimizations
from burnish.integrations.opik.projection import OpikProjection
from burnish.integrations.opik.prompts import configuration_of
from burnish.optimization import events
from burnish.optimization.experiments.aggregator import trial_of

# A mutation is a look at a changed prompt on some items: nothing that could be best.
_TYPES = {
    "regular": ExperimentType.REGULAR,
    "trial": ExperimentType.TRIAL,
    "mini-batch": ExperimentType.MINI_BATCH,
    "mutation": ExperimentType.MINI_BATCH,
}
_ATTRIBUTION = (
    *("candidate_id", "mask_id", "step_index", "parent_candidate_ids", "candidate_config_hash"),
    *("role", "trial_error"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewOpikExperiment:
    """What a client says when it begins one."""

    id: str
    name: str | None = None
    type: str = "regular"
    optimization_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)


class OpikExperiments:
    """Makes and ends experiments. Whatever is said twice counts once."""

    def __init__(
        self,
        workspace: Workspace,
        lease: OpikLease,
        optimizations: OpikOptimizations,
        projection: OpikProjection,
    ) -> None:
        self._workspace = workspace
        self._lease = lease
        self._optimizations = optimizations
        self._projection = projection

    async def get(self, experiment_id: str) -> Experiment:
        """One that a client made."""
        experiment = await self._workspace.experiments.get_experiment(experiment_id)
        if "opik" not in experiment.metadata:
            raise ConflictError(
                what=f"the experiment {experiment_id!r} cannot be used by an Opik client",
                why="Burnish itself runs it",
                fix="let the client make one of its own",
                code="not_of_client",
            )
        return experiment

    async def create(self, dataset: OpikDataset | None, new: NewOpikExperiment) -> None:
        """A new one; one that is there already stays as it is."""
        kind = _type(new)
        record = None
        if new.optimization_id is not None:
            record = await self._optimizations.get(new.optimization_id)
        experiment = Experiment(
            id=new.id,
            name=new.name or f"{kind.value} {new.id[-8:]}",
            type=kind,
            status=ExperimentStatus.RUNNING,
            agent_name="Opik client" if record is None else record.agent_name,
            configuration=configuration_of(new.metadata),
            suite_name=dataset.name if dataset is not None else "Opik",
            dataset_id=None if dataset is None else await snapshot(self._workspace, dataset),
            planned_items=None,
            optimization_id=new.optimization_id,
            metadata={
                **{name: new.metadata[name] for name in _ATTRIBUTION if name in new.metadata},
                "opik": {**new.about, "metadata": dict(new.metadata)},
            },
        )
        if record is None or kind is ExperimentType.REGULAR:
            await self._add(experiment)
        else:
            await self._lease.write(record.id, lambda lease: self._add_trial(lease, experiment))
        # Items may have come in before it.
        await self._projection.refresh(experiment.id)

    async def finish(self, experiment_id: str, status: ExperimentStatus) -> None:
        """Nothing more is run; scores may still come in."""
        experiment = await self.get(experiment_id)
        status = _ended_as(experiment.metadata["opik"]["metadata"], status)
        if experiment.status is not status:
            await self._workspace.experiments.update_experiment(experiment_id, status=status)
        await self._projection.refresh(experiment_id)

    async def describe(self, experiment_id: str, metadata: Mapping[str, Any]) -> None:
        """More of what is known about it."""
        experiment = await self.get(experiment_id)
        about = experiment.metadata["opik"]
        merged = {**(about.get("metadata") or {}), **metadata}
        await self._workspace.experiments.update_experiment(
            experiment_id,
            metadata={
                **{name: metadata[name] for name in _ATTRIBUTION if name in metadata},
                "opik": {**about, "metadata": merged},
            },
        )

    async def _add(self, experiment: Experiment, lease: Lease | None = None) -> None:
        try:
            await self._workspace.experiments.create_experiment(experiment, lease=lease)
        except ConflictError as error:
            if error.code == "lease_lost":
                raise
            await self.get(experiment.id)

    async def _add_trial(self, lease: Lease, experiment: Experiment) -> None:
        repository, identity = self._workspace.optimizations, lease.job_id
        trials = await repository.list_trials(identity, mini_batches=True)
        await self._add(experiment, lease)
        if any(one.experiment_id == experiment.id for one in trials):
            return
        candidate = candidate_of(
            identity,
            experiment.configuration,
            experiment.metadata["opik"]["metadata"],
            experiment.type,
            candidates=await repository.list_candidates(identity),
            trials=trials,
        )
        whole = experiment.type is ExperimentType.TRIAL
        step = StepCandidate(
            candidate=candidate,
            experiment_id=experiment.id,
            item_ids=None if whole else (),
        )
        record = await repository.get_optimization(identity)
        await repository.save_step(
            lease, candidates=[step], rejections=(), checkpoint=record.checkpoint or {}
        )
        trial = trial_of(step, ExperimentStatus.RUNNING, None, None)
        told = [events.trial_changed(trial, candidate.number)]
        await repository.save_trial(lease, trial, events=told)


def _ended_as(metadata: Mapping[str, Any], told: ExperimentStatus) -> ExperimentStatus:
    """Opik knows two ends of an experiment; a mirror says more exactly which."""
    sent = metadata.get("trial_status")
    ends = {one.value: one for one in ExperimentStatus if one.final}
    return ends.get(sent, told) if isinstance(sent, str) else told


def _type(new: NewOpikExperiment) -> ExperimentType:
    name = new.type
    if new.metadata.get("trial_status") == ExperimentStatus.PRUNED.value:
        # Sent as a mini-batch, so that Opik too never takes it for the best.
        return ExperimentType.TRIAL
    if name not in _TYPES:
        raise UsageError(
            what=f"the experiment type {name!r} cannot be used",
            why=f"an experiment is one of {', '.join(_TYPES)}",
            fix="send one of these",
            code="invalid_type",
        )
    return _TYPES[name]
