"""A run while it goes on, for whoever has to say how to go on with it."""

from __future__ import annotations

from dataclasses import dataclass, field

from burnish.app.evaluate.evaluations import Evaluation
from burnish.cli.eval_request import EvalRequest
from burnish.cli.project_location import Place
from burnish.cli.wording import count, short_id
from burnish.evaluation.progress import Progress


@dataclass(slots=True)
class Watch:
    """The progress, and the evaluation once it is prepared."""

    progress: Progress = field(default_factory=Progress)
    evaluation: Evaluation | None = None

    def kept(self, place: Place, request: EvalRequest) -> str | None:
        """What of a stopped run is kept, and the command that goes on with it."""
        experiment_id = self.evaluation.experiment_id if self.evaluation else None
        lost, planned = self.progress.infrastructure_errors, self.progress.planned
        kept = self.progress.done - lost
        if experiment_id is None or not kept:
            return None
        # What failed for outside reasons is worth another try; an agent's own errors would repeat.
        option = "--retry-errors" if lost else "--resume"
        command = place.command(*request.continuing_with(short_id(experiment_id), option))
        runs = f"{kept:,} of {count(planned, 'run')}" if planned else count(kept, "run")
        return f"{runs} saved; go on with: {command}"
