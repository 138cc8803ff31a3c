"""8 candidates of 100 items at 50 ms on a pool of 100, against peers: the ideal is 0.4 s."""

from __future__ import annotations

import os
from statistics import median
from typing import Any

from bench.peers import venvs
from bench.processes import measure
from bench.results import Section

CANDIDATES, ITEMS, POOL, WAIT = 8, 100, 100, 0.05
ROUNDS, STEPS = 3, 5
IDEAL = CANDIDATES * ITEMS / POOL * WAIT
SIZES = (CANDIDATES, ITEMS, POOL)
GOAL = 1.25

# What is shown: the program, what its span covers, whether it keeps results, and its measurement.
SPANS = (
    ("burnish", "trigger of the step until all 8 trials are recorded", "yes", "recorded"),
    ("burnish", "proposals handed over until the optimizer observes them", "yes", "observed"),
    ("gepa", "the 800 evaluations until the 8 are in its state", "no", "evaluations"),
    ("gepa", "a whole iteration, with its two rounds of mini-batches", "no", "iteration"),
    ("opik", "8 calls of its task evaluator, 100 threads", "no", "task_evaluator"),
    ("opik", "8 calls of evaluate_prompt, n_threads=100", "no", "evaluate_prompt"),
)


def run() -> Section:
    """The programs in turn, several rounds of three steps each; medians compared."""
    answers: dict[str, list[dict[str, Any]]] = {"burnish": [], "gepa": [], "opik": []}
    loads = []
    for peer in ("gepa", "opik"):
        venvs.ensure(peer)
    for _ in range(ROUNDS):
        loads.append(os.getloadavg()[0])
        answers["burnish"].append(measure("bench.burnish_parallel", *SIZES, STEPS))
        for peer in ("gepa", "opik"):
            script = f"{peer}_candidates.py"
            answers[peer].append(venvs.run(peer, script, *SIZES, "--wait", WAIT, "--steps", STEPS))
    seconds = {
        (program, key): [one for answer in answers[program] for one in answer[f"{key}_seconds"]]
        for program, _, _, key in SPANS
    }
    ours = median(seconds["burnish", "recorded"])
    names = {
        "burnish": "burnish",
        "gepa": f"gepa {answers['gepa'][0]['version']}",
        "opik": f"opik-optimizer {answers['opik'][0]['version']}",
    }
    rows: list[list[Any]] = [["ideal", "", "", f"{IDEAL:.3f}", "1.00", "", ""]]
    for program, what, stores, key in SPANS:
        middle, best = median(seconds[program, key]), min(seconds[program, key])
        rows.append(
            [
                names[program],
                what,
                stores,
                f"{middle:.3f}",
                f"{middle / IDEAL:.2f}",
                f"{best / IDEAL:.2f}",
                "" if program == "burnish" else f"{middle / ours:.2f}",
            ]
        )
    return Section(
        name="parallel",
        title="Parallel: 8 candidates of 100 items at 50 ms, pool of 100",
        command="python -m bench parallel",
        columns=[
            "program",
            "what is timed",
            "stores results",
            f"seconds (median of {ROUNDS * STEPS} steps)",
            "times the ideal",
            "best step",
            "times burnish's first row",
        ],
        rows=rows,
        notes=[
            f"The goal is at most {GOAL} times the ideal for the first row of burnish.",
            "gepa runs its own loop with `SameParentSampling(8)`, an instant proposer and an adapter "
            "with `batch_evaluate`, so that all 800 items share one pool of 100 threads; it keeps "
            "nothing on disk. Its mini-batches are set to one item.",
            "opik-optimizer evaluates one candidate after the other. `evaluate_prompt` clamps "
            "n_threads to 32, so 1.6 s is the least it can take; its task evaluator is not clamped. "
            "It runs without a server: no experiment is made, and its traces are dropped.",
            f"Load average over the rounds: {min(loads):.1f} to {max(loads):.1f} on "
            f"{os.cpu_count()} cores.",
        ],
    )
