"""MLflow: a result as a run with parameters, score by trial, the winner and a report."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from burnish.domain import UsageError
from burnish.integrations.tracking.facts import Result, facts_of

if TYPE_CHECKING:
    from mlflow import MlflowClient

# What a server takes in one request.
_METRICS_AT_ONCE = 1_000


def to_mlflow(
    result: Result,
    *,
    experiment: str = "burnish",
    tracking_uri: str | None = None,
    run_id: str | None = None,
) -> str:
    """Log a result and return the id of its MLflow run.

    It goes to `tracking_uri`, or to where MLFLOW_TRACKING_URI points, into the named experiment, which
    is made if need be; with `run_id` into a run that is there, which stays open.
    """
    try:
        from mlflow import MlflowClient  # noqa: PLC0415 - an extra
        from mlflow.entities import Metric, Param  # noqa: PLC0415
    except ImportError as error:
        raise UsageError(
            what="the result cannot be logged to MLflow",
            why="mlflow is not installed",
            fix="pip install 'burnish[mlflow]'",
            code="missing_extra",
        ) from error
    facts, client, now = facts_of(result), MlflowClient(tracking_uri), int(time.time() * 1000)
    run = run_id or _start(client, experiment, facts.name, facts.id)
    singles = [Metric(name, value, now, 0) for name, value in facts.metrics.items()]
    by_trial = [
        Metric(name, value, now, number)
        for number, values in facts.series
        for name, value in values.items()
    ]
    client.log_batch(run, params=[Param(name, str(one)) for name, one in facts.parameters.items()])
    metrics = [*singles, *by_trial]
    for start in range(0, len(metrics), _METRICS_AT_ONCE):
        client.log_batch(run, metrics=metrics[start : start + _METRICS_AT_ONCE])
    client.log_dict(run, facts.configuration.to_json(), "configuration.json")
    client.log_text(run, facts.html, "report.html")
    if run_id is None:
        client.set_terminated(run)
    return run


def _start(client: MlflowClient, experiment: str, name: str, identity: str) -> str:
    found = client.get_experiment_by_name(experiment)
    place = client.create_experiment(experiment) if found is None else found.experiment_id
    run = client.create_run(place, run_name=name, tags={"burnish.id": identity})
    return str(run.info.run_id)
