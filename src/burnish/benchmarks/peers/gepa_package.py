"""The `gepa` package in the simulated worlds.

Run by a Python that has gepa, without Burnish: jobs as a JSON list on stdin, one JSON line out for
each job. Settings are gepa's defaults (mini-batches of 3, Pareto selection, no merge) unless a job
says otherwise; the reflection prompt is gepa's own. `sections` are those that it may change, all unless
said. The setting `sampling` has two numbers: parents an iteration, and proposals a parent.
"""

from __future__ import annotations

import io
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from typing import Any

from gepa.api import optimize
from gepa.core.adapter import EvaluationBatch
from gepa.strategies.proposal_sampling import PxNSampling
from peer_jobs import curve, load_world, serve


class Quiet:
    """A logger that says nothing."""

    def log(self, message: str) -> None:
        """Called by gepa."""


class WorldAdapter:
    """gepa's door to a world. With `threads` it evaluates a batch on a pool, as gepa leaves to it."""

    propose_new_texts = None

    def __init__(self, world: Any, threads: int) -> None:
        self._world = world
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def evaluate(
        self, batch: list[dict[str, Any]], candidate: dict[str, str], capture_traces: bool = False
    ) -> Any:
        """Called by gepa: answers, scores, and what is needed to reflect on them."""
        run = self._pool.map if self._pool else map
        texts = {**self._world.sections, **candidate}
        outputs = list(run(lambda row: self._world.answer(texts, row), batch))
        judged = [
            self._world.score(output, row) for output, row in zip(outputs, batch, strict=True)
        ]
        traces = [
            {"row": row, "output": output, "feedback": feedback}
            for row, output, (_, feedback) in zip(batch, outputs, judged, strict=True)
        ]
        return EvaluationBatch(
            outputs=outputs,
            scores=[score for score, _ in judged],
            trajectories=traces if capture_traces else None,
        )

    def make_reflective_dataset(
        self, candidate: dict[str, str], eval_batch: Any, components_to_update: list[str]
    ) -> dict[str, list[dict[str, Any]]]:
        """Called by gepa: the records that its prompt shows."""
        records = [
            {
                "Inputs": {"message": trace["row"]["message"]},
                "Generated Outputs": trace["output"],
                "Feedback": trace["feedback"],
            }
            for trace in eval_batch.trajectories
        ]
        return dict.fromkeys(components_to_update, records)


def run(job: dict[str, Any]) -> dict[str, Any]:
    """One optimization."""
    world = load_world(job)
    adapter: Any = WorldAdapter(world, job.get("threads", 1))
    settings = dict(job.get("settings", {}))
    if "sampling" in settings:
        settings["sampling_strategy"] = PxNSampling(*settings.pop("sampling"))
    started = time.perf_counter()
    with redirect_stdout(io.StringIO()):
        result: Any = optimize(
            seed_candidate={
                path: text
                for path, text in world.sections.items()
                if path in job.get("sections", world.sections)
            },
            trainset=world.train,
            valset=world.validation,
            adapter=adapter,
            reflection_lm=world.reflect,
            max_metric_calls=job["budget"],
            seed=job["seed"],
            logger=Quiet(),
            **settings,
        )
    seconds = time.perf_counter() - started
    if result.total_metric_calls != world.calls:
        raise RuntimeError(
            f"gepa counted {result.total_metric_calls} calls, the world {world.calls}"
        )
    # gepa counts a candidate as discovered before its validation; it is known to be best after it.
    known = [count + len(world.validation) for count in result.discovery_eval_counts]
    texts = [{**world.sections, **candidate} for candidate in result.candidates]
    found = zip(known, result.val_aggregate_scores, texts, strict=True)
    made: dict[str, Any] = curve(job, world, sorted(found, key=lambda one: one[0]), seconds)
    return made


if __name__ == "__main__":
    serve(run)
