"""Weights & Biases: a result as a run with its config, score by trial, the winner and a report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from burnish.domain import UsageError
from burnish.integrations.tracking.facts import Result, facts_of


def to_wandb(
    result: Result,
    *,
    project: str = "burnish",
    entity: str | None = None,
    mode: Literal["online", "offline", "disabled"] | None = None,
    folder: str | Path | None = None,
) -> str:
    """Log a result and return the id of its W&B run.

    `mode` is W&B's own (WANDB_MODE otherwise): an offline run is kept below `folder` until `wandb
    sync` sends it.
    """
    try:
        import wandb  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UsageError(
            what="the result cannot be logged to Weights & Biases",
            why="wandb is not installed",
            fix="pip install 'burnish[wandb]'",
            code="missing_extra",
        ) from error
    facts = facts_of(result)
    with wandb.init(
        project=project,
        entity=entity,
        name=facts.name,
        config=dict(facts.parameters),
        mode=mode,
        dir=None if folder is None else str(folder),
    ) as run:
        for number, values in facts.series:
            run.log(dict(values), step=number)
        run.summary.update({**facts.metrics, "configuration": facts.configuration.to_json()})
        run.log({"report": wandb.Html(facts.html)})
        artifact = wandb.Artifact(f"configuration-{facts.id}", type="configuration")
        with artifact.new_file("configuration.json", encoding="utf-8") as file:
            json.dump(facts.configuration.to_json(), file, ensure_ascii=False, indent=2)
        run.log_artifact(artifact)
        return str(run.id)
