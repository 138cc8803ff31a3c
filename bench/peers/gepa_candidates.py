"""How long ``gepa`` takes to evaluate a step's candidates whose items only wait.

Run with a Python that has gepa (``venvs.run("gepa", "gepa_candidates.py", 8, 100, 100)``).
Each iteration of ``gepa.optimize`` proposes that many candidates from one parent and accepts
all of them, each with a full validation. gepa leaves concurrency to its adapter; this one
implements the optional ``batch_evaluate``, so gepa hands over all candidates in one call and
their items share one pool of threads. gepa keeps its state in memory here (no ``run_dir``).

Two spans: ``evaluations`` from the call that evaluates all candidates until they are in gepa's
state, ``iteration`` from its start to its end, with the two rounds of mini-batches that gepa
runs before it validates a candidate.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from itertools import count
from typing import Any

import gepa
from gepa.core.adapter import EvaluationBatch
from gepa.strategies.proposal_sampling import SameParentSampling

Candidate = dict[str, str]
SCORE = 0.5  # Below perfect, and equal for all, so that every candidate is accepted.


class Waiting:
    """An adapter whose items wait; it answers for any number of candidates at once."""

    propose_new_texts = None

    def __init__(self, threads: int, wait: float) -> None:
        self._pool = ThreadPoolExecutor(threads)
        self._wait = wait
        self.largest_call = (0, 0.0)

    def evaluate(
        self, batch: list[Any], candidate: Candidate, capture_traces: bool = False
    ) -> EvaluationBatch:
        """One candidate: the seed."""
        return self.batch_evaluate([(candidate, batch)])[0]

    def batch_evaluate(self, items: list[tuple[Candidate, list[Any]]]) -> list[EvaluationBatch]:
        """All items of all candidates on one pool."""
        started = time.perf_counter()
        flat = [(candidate, row) for candidate, batch in items for row in batch]
        self.largest_call = max(self.largest_call, (len(flat), started), key=lambda one: one[0])
        outputs = iter(list(self._pool.map(self._answer, flat)))
        answers = [[next(outputs) for _ in batch] for _, batch in items]
        return [
            EvaluationBatch(outputs=got, scores=[SCORE] * len(got), trajectories=got)
            for got in answers
        ]

    def make_reflective_dataset(
        self, candidate: Candidate, eval_batch: EvaluationBatch, components_to_update: list[str]
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Something to reflect on; nobody reads it."""
        return {name: [{"Feedback": "-"}] for name in components_to_update}

    def _answer(self, asked: tuple[Candidate, Any]) -> str:
        time.sleep(self._wait)
        return asked[1]["label"]


class Watch:
    """Notes the spans of each iteration."""

    def __init__(self, adapter: Waiting) -> None:
        self._adapter = adapter
        self.evaluations: list[float] = []
        self.iterations: list[float] = []

    def on_iteration_start(self, event: Any) -> None:
        """Called by gepa."""
        self._adapter.largest_call = (0, 0.0)
        self._started = time.perf_counter()

    def on_iteration_end(self, event: Any) -> None:
        """Called by gepa once the accepted candidates are in its state."""
        now = time.perf_counter()
        self.evaluations.append(now - self._adapter.largest_call[1])
        self.iterations.append(now - self._started)


class Quiet:
    """A logger that says nothing."""

    def log(self, message: str) -> None:
        """Called by gepa."""


def measure(candidates: int, items: int, threads: int, wait: float, steps: int) -> dict[str, Any]:
    rows = [{"question": f"item {n}", "label": str(n)} for n in range(items)]
    numbers = count()
    adapter = Waiting(threads, wait)
    watch = Watch(adapter)
    result = gepa.optimize(
        seed_candidate={"system": "seed"},
        trainset=rows,
        valset=rows,
        adapter=adapter,
        custom_candidate_proposer=lambda *_: {"system": f"candidate {next(numbers)}"},
        sampling_strategy=SameParentSampling(candidates),
        acceptance_criterion="improvement_or_equal",
        skip_perfect_score=False,
        reflection_minibatch_size=1,
        stop_callbacks=lambda state: state.i + 1 >= steps,
        callbacks=[watch],
        logger=Quiet(),
        track_best_outputs=False,
    )
    if len(result.candidates) != 1 + steps * candidates:
        raise SystemExit(f"gepa has {len(result.candidates)} candidates: the timing would be void")
    return {
        "peer": "gepa",
        "version": version("gepa"),
        "evaluations_seconds": watch.evaluations,
        "iteration_seconds": watch.iterations,
        "metric_calls": result.total_metric_calls,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("candidates", 8), ("items", 100), ("threads", 100)):
        parser.add_argument(name, nargs="?", type=int, default=default)
    parser.add_argument("--wait", type=float, default=0.05)
    parser.add_argument("--steps", type=int, default=3)
    options = parser.parse_args()
    print(json.dumps(measure(**vars(options))))


if __name__ == "__main__":
    main()
