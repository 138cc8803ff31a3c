"""Items per second with nothing to wait for, against peers that do the same."""

from __future__ import annotations

from statistics import median

from bench.peers import venvs
from bench.processes import measure
from bench.results import Section

ROUNDS = 3
ITEMS = 5000
INSPECT_ITEMS = 500


def run() -> Section:
    """The peers in turn, several rounds, medians compared."""
    rates: dict[str, list[float]] = {"burnish": [], "dspy": [], "inspect_ai": []}
    small: list[float] = []
    versions: dict[str, str] = {}
    for _ in range(ROUNDS):
        ours = measure("bench.burnish_overhead", ITEMS, 1)
        rates["burnish"].append(ITEMS / median(ours["seconds"]))
        few = measure("bench.burnish_overhead", INSPECT_ITEMS, 1)
        small.append(INSPECT_ITEMS / median(few["seconds"]))
        for name, script, count in (
            ("dspy", "dspy_evaluate.py", ITEMS),
            ("inspect_ai", "inspect_eval.py", INSPECT_ITEMS),
        ):
            answer = venvs.run(name.split("_")[0], script, count, "--repeats", 1)
            rates[name].append(answer["items_per_second_median"])
            versions[name] = answer["version"]
    mid = {name: median(values) for name, values in rates.items()}
    return Section(
        name="overhead",
        title="Overhead: 5,000 items, instant agent, one scorer",
        command="python -m bench overhead",
        columns=[
            "program",
            "items",
            "stores results",
            "items/s (median of 3 rounds)",
            "burnish is",
        ],
        rows=[
            ["burnish", ITEMS, "yes", round(mid["burnish"]), ""],
            ["burnish", INSPECT_ITEMS, "yes", round(median(small)), ""],
            [
                f"dspy.Evaluate {versions['dspy']}",
                ITEMS,
                "no",
                round(mid["dspy"]),
                f"{mid['burnish'] / mid['dspy']:.2f} times as fast",
            ],
            [
                f"inspect_ai {versions['inspect_ai']}",
                INSPECT_ITEMS,
                "yes",
                round(mid["inspect_ai"]),
                f"{mid['burnish'] / mid['inspect_ai']:.0f} times as fast "
                f"({median(small) / mid['inspect_ai']:.0f} at {INSPECT_ITEMS} items)",
            ],
        ],
        notes=[
            "Burnish's time is the whole call: the dataset is checked, hashed and stored, a database "
            "is made, every result and score is saved, and the intervals are computed.",
            "dspy and inspect_ai run with the fastest settings found for them (`bench/peers/`); dspy's "
            "rate falls with the number of items.",
        ],
    )
