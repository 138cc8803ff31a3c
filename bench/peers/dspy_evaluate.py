"""Throughput of ``dspy.Evaluate`` with nothing to wait for.

Run with a Python that has dspy (``venvs.run("dspy", "dspy_evaluate.py", 5000)``).
The program answers at once without a language model, so what is timed is the
framework's own work per item. dspy keeps results in memory only.

Items per second fall as the item count grows: after every item dspy 3.4 rescans
all results for its progress line, even with the progress bar off. Compare only
figures taken at the same item count.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time

import dspy

# The fastest of 1, 2, 4, 8 (dspy's default) and 16: by far at 500 items, by a little
# at 5000. Nothing blocks here, so more threads only add the cost of handing over.
NUM_THREADS = 1


class Echo(dspy.Module):
    """Answers with the question, so every item is an exact match."""

    def forward(self, question: str) -> dspy.Prediction:
        """Called by dspy with the fields marked as inputs."""
        return dspy.Prediction(answer=question)


def exact_match(example: dspy.Example, prediction: dspy.Prediction, trace: object = None) -> bool:
    return bool(example.answer == prediction.answer)


def timed_run(evaluate: dspy.Evaluate, program: dspy.Module) -> float:
    """Seconds of one evaluation; refuses a run in which any item failed."""
    start = time.perf_counter()
    result = evaluate(program)
    seconds = time.perf_counter() - start
    if result.score != 100.0:
        raise SystemExit(
            f"dspy scored {result.score} instead of 100, so some items did not run "
            "and the timing would be void; see dspy's messages above for the cause."
        )
    return seconds


def measure(items: int, repeats: int) -> dict[str, object]:
    devset = [
        dspy.Example(question=f"item {i}", answer=f"item {i}").with_inputs("question")
        for i in range(items)
    ]
    evaluate = dspy.Evaluate(
        devset=devset,
        metric=exact_match,
        num_threads=NUM_THREADS,
        display_progress=False,
    )
    program = Echo()
    timed_run(evaluate, program)
    seconds = [timed_run(evaluate, program) for _ in range(repeats)]
    return {
        "peer": "dspy",
        "version": dspy.__version__,
        "items": items,
        "seconds": seconds,
        "items_per_second_median": items / statistics.median(seconds),
        "stores": False,
        "settings": {"num_threads": NUM_THREADS, "display_progress": False},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("items", nargs="?", type=int, default=5000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    if options.items < 1 or options.repeats < 1:
        parser.error("items and --repeats must both be at least 1")
    print(json.dumps(measure(options.items, options.repeats)))


if __name__ == "__main__":
    main()
