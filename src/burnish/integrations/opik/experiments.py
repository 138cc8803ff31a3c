"""Experiments of Opik clients: each is one of ours, and a trial or mini-batch of its optimization."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from burnish.app.optimize.client_lease import OpikLease
from burnish.app.wiring import Workspace
from burnish.domain import (
    Candidate,
    Configuration,
    ConflictError,
    Experiment,
    ExperimentStatus,
    ExperimentType,
    Lease,
    StepCandidate,
    TrialResult,
    UsageError,
)
from burnish.domain.opik import OpikDataset
from burnish.integrations.opik.datasets import snapshot
from burnish.integrations.opik.optimizations import OpikOptimizations
from burnish.integrations.opik.projection import OpikProjection
from burnish.optimization import events
from burnish.optimization.experiments.aggregator import trial_of
from burnish.optimization.experiments.masks import CandidateMaterializer
from burnish.optimization.search_plan import candidate_id

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
_PARENTS = ("parent_candidate_ids", "parent_ids")
_LONGEST_ID = 100
_MOST_PARENTS = 20
_OWN = ("sections", "parameters", "examples")
_NOT_NAME = re.compile(r"[^A-Za-z0-9_-]+")
# Of `agent_config`, what is no prompt and no parameter of the model.
_NO_PARAMETERS = ("messages", "system", "user", "optimizer", "tools", "project_name")


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

    async def create(
        self,
        experiment_id: str,
        dataset: OpikDataset | None,
        *,
        name: str | None,
        optimization_id: str | None,
        metadata: Mapping[str, Any],
        about: Mapping[str, Any],
    ) -> None:
        """A new one; one that is there already stays as it is."""
        kind = _type(about["type"], metadata)
        record = None
        if optimization_id is not None:
            record = await self._optimizations.get(optimization_id)
        experiment = Experiment(
            id=experiment_id,
            name=name or f"{kind.value} {experiment_id[-8:]}",
            type=kind,
            status=ExperimentStatus.RUNNING,
            agent_name="Opik client" if record is None else record.agent_name,
            configuration=configuration_of(metadata),
            suite_name=dataset.name if dataset is not None else "Opik",
            dataset_id=None if dataset is None else await snapshot(self._workspace, dataset),
            planned_items=None,
            optimization_id=optimization_id,
            metadata={
                **{key: metadata[key] for key in _ATTRIBUTION if key in metadata},
                "opik": {**about, "metadata": dict(metadata)},
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


def _type(name: str, metadata: Mapping[str, Any]) -> ExperimentType:
    if metadata.get("trial_status") == ExperimentStatus.PRUNED.value:
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


def candidate_of(
    optimization_id: str,
    configuration: Configuration,
    metadata: Mapping[str, Any],
    kind: ExperimentType,
    *,
    candidates: Sequence[Candidate],
    trials: Sequence[TrialResult],
) -> Candidate:
    """A known candidate or the next one. Lineage is what the client sent: none is made up.

    Without an id of the client's, a mini-batch belongs to the candidate of the same configuration.
    So does a trial, unless that one had its trial: clients evaluate a prompt twice and show both.
    """
    sent = _identity(metadata.get("candidate_id"))
    if sent is not None:
        known = next((one for one in candidates if one.id == sent), None)
    else:
        alike = [one for one in candidates if one.configuration.hash == configuration.hash]
        tried = {one.candidate_id for one in trials if one.type is ExperimentType.TRIAL}
        if kind is ExperimentType.TRIAL:
            alike = [one for one in alike if one.id not in tried]
        known = alike[0] if alike else None
    if known is not None:
        return known
    number = _number(metadata, {one.number for one in candidates})
    parents = parents_of(metadata)
    return Candidate(
        id=sent or candidate_id(optimization_id, number),
        optimization_id=optimization_id,
        number=number,
        step_index=_step(metadata, number, parents, candidates),
        configuration=configuration,
        parent_candidate_ids=parents,
        rationale=_rationale(metadata),
        mask_id=_identity(metadata.get("mask_id"))
        or CandidateMaterializer.mask_id(optimization_id, number),
    )


def parents_of(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """The parents that were sent."""
    for name in _PARENTS:
        given = metadata.get(name)
        if isinstance(given, Sequence) and not isinstance(given, str):
            found = [one for one in map(_identity, given[:_MOST_PARENTS]) if one is not None]
            return tuple(dict.fromkeys(found))
    return ()


def _number(metadata: Mapping[str, Any], taken: set[int]) -> int:
    """As it was sent, where it is free: a mirror sends candidates in the order they end."""
    sent = metadata.get("candidate_number")
    if isinstance(sent, int) and 0 <= sent < 2**31 and sent not in taken:
        return int(sent)
    return max(taken, default=-1) + 1


def _step(
    metadata: Mapping[str, Any],
    number: int,
    parents: Sequence[str],
    candidates: Sequence[Candidate],
) -> int:
    sent = metadata.get("step_index")
    if isinstance(sent, int) and not isinstance(sent, bool) and 0 <= sent < 2**31:
        return sent
    if number == 0:
        return 0
    return max((one.step_index for one in candidates if one.id in parents), default=0) + 1


def _identity(value: Any) -> str | None:
    usable = isinstance(value, str) and 0 < len(value) <= _LONGEST_ID and value.isprintable()
    return value if usable else None


def _rationale(metadata: Mapping[str, Any]) -> str | None:
    value = metadata.get("rationale")
    return value if isinstance(value, str) else None


def configuration_of(metadata: Mapping[str, Any]) -> Configuration:
    """Prompts as sections, the model and its settings as parameters; what is neither stays out."""
    configuration = metadata.get("configuration")
    given = configuration if isinstance(configuration, Mapping) else {}
    if given and not set(given) - set(_OWN):
        # As our own mirror sends it.
        try:
            return Configuration.of(given)
        except UsageError:
            pass
    sections = _sections(given.get("prompt")) or _agent_sections(metadata)
    if not sections and configuration:
        sections = {"configuration": _text(configuration)}
    wanted = {"sections": sections, "parameters": _parameters(metadata, given)}
    try:
        return Configuration.of(wanted)
    except UsageError:
        # Numbers or texts that no configuration can hold: shown, and not lost.
        return Configuration.of({"sections": {"configuration": _text(wanted)}})


def _sections(prompts: Any) -> dict[str, str]:
    if isinstance(prompts, Mapping) and len(prompts) == 1:
        return _messages(next(iter(prompts.values())))
    if isinstance(prompts, Mapping):
        return {
            f"{_name(name)}.{path}": text
            for name, messages in prompts.items()
            for path, text in _messages(messages).items()
        }
    return _messages(prompts)


def _messages(messages: Any) -> dict[str, str]:
    """By role; a role that comes again is numbered."""
    if isinstance(messages, str):
        return {"prompt": messages}
    if not isinstance(messages, Sequence):
        return {}
    found: dict[str, str] = {}
    times: dict[str, int] = {}
    for message in messages:
        if not isinstance(message, Mapping):
            continue
        role = _name(message.get("role"))
        times[role] = times.get(role, 0) + 1
        path = role if times[role] == 1 else f"{role}_{times[role]}"
        found[path] = _text(message.get("content"))
    return found


def _agent_sections(metadata: Mapping[str, Any]) -> dict[str, str]:
    agent = metadata.get("agent_config")
    if not isinstance(agent, Mapping):
        return {}
    named = {role: agent[role] for role in ("system", "user") if isinstance(agent.get(role), str)}
    return named or _messages(agent.get("messages"))


def _parameters(metadata: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    agent = metadata.get("agent_config")
    if isinstance(agent, Mapping):
        found.update({name: agent[name] for name in agent if name not in _NO_PARAMETERS})
    tools = given.get("tools")
    if tools:
        found["tools"] = tools
    about = metadata.get("optimizer_metadata")
    settings = about.get("model_parameters") if isinstance(about, Mapping) else None
    if isinstance(settings, Mapping):
        found.update(settings)
    return {str(name): value for name, value in found.items() if value is not None}


def _name(value: Any) -> str:
    name = _NOT_NAME.sub("_", str(value or "prompt")).strip("-") or "prompt"
    return name if name[0].isalpha() or name[0] == "_" else f"_{name}"


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True)
