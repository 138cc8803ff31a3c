"""The section of the results page: every kept run, means, and how right verdicts were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.real.foreign import FOREIGN
from bench.real.report import compared, mean_interval
from bench.real.runs import code_of
from bench.real.verdicts import verdict_lines, was_right
from bench.results import Section

Run = Mapping[str, Any]
_COLUMNS = (
    *("calls allowed", "task", "seed", "contestant", "before", "after", "gain, 95% interval"),
    *("test rows", "said on a third", "right", "calls made", "asked", "examples", "code"),
)


def section(runs: Sequence[Run]) -> Section:
    """All runs that the committed file has; of a contestant those of one state of its code."""
    shown, left_out = of_one_code(runs)
    shown.sort(key=lambda one: (one["evaluations"], one["task"], one["seed"], one["contestant"]))
    return Section(
        name="real",
        title="Real tasks: a small model answers, with optimizers of ours and of other libraries",
        command="python -m bench real --data DIR",
        columns=list(_COLUMNS),
        rows=[_cells(one) for one in shown],
        notes=[
            "Accuracies on held-out rows with the task's first prompt and with the winner; "
            "SmolLM2-135M answers with a label, Qwen2.5-Coder-1.5B is asked by those that ask. "
            "Tasks are public (banking77 CC-BY-4.0, clinc CC-BY-3.0, BIG-bench Hard MIT); no row of "
            "them is kept here.",
            "“Said on a third” is what a run would say if a third of the test rows were all that is "
            "held out; “right” is what all other held-out rows say to that.",
            *(_mean_lines(shown)),
            *(_pairs(shown)),
            *verdict_lines(shown),
            *(
                [f"{left_out} runs of other states of a contestant's code are left out."]
                if left_out
                else []
            ),
            *(f"{name}: {one.about}." for name, one in FOREIGN.items()),
        ],
    )


def of_one_code(runs: Sequence[Run]) -> tuple[list[Run], int]:
    """Runs of the code as it is now; of a contestant without any those of its newest code."""
    found: list[Run] = []
    for place in sorted({(one["contestant"], one["evaluations"]) for one in runs}):
        mine = [one for one in runs if (one["contestant"], one["evaluations"]) == place]
        newest = max(mine, key=lambda one: (one.get("measured", ""), one["code"]))["code"]
        now = code_of(place[0])
        chosen = now if any(one["code"] == now for one in mine) else newest
        found += [one for one in mine if one["code"] == chosen]
    return found, len(runs) - len(found)


def _cells(run: Run) -> list[Any]:
    right = was_right(run)
    second = run.get("second")
    told = "" if second is None else f" ({second['gain']:+.3f} on {second['rows']})"
    return [
        f"{run['evaluations']:,}",
        run["task"],
        run["seed"],
        run["contestant"],
        f"{run['before']:.3f}",
        f"{run['after']:.3f}",
        f"{run['gain']:+.3f} ({run['low']:+.3f} to {run['high']:+.3f})",
        run["items"][-1],
        run.get("said", ""),
        ("" if right is None else "yes" if right else "no") + told,
        run.get("made", ""),
        run["asked"],
        run.get("examples", ""),
        "now" if run["code"] == code_of(run["contestant"]) else f"earlier ({run['code']})",
    ]


def _mean_lines(runs: Sequence[Run]) -> list[str]:
    found = []
    for calls, name in sorted({(one["evaluations"], one["contestant"]) for one in runs}):
        gains = [
            one["gain"] for one in runs if (one["evaluations"], one["contestant"]) == (calls, name)
        ]
        mean, interval = mean_interval(gains)
        found.append(
            f"{name}, {calls:,} calls, runs: {len(gains)}; mean gain {mean:+.3f} "
            f"({interval.low:+.3f} to {interval.high:+.3f} over runs), lowest {min(gains):+.3f}."
        )
    return found


def _pairs(runs: Sequence[Run]) -> list[str]:
    """`auto` beside each other one, and `gepa` beside the package."""
    found = []
    for calls in sorted({one["evaluations"] for one in runs}):
        here = [one for one in runs if one["evaluations"] == calls]
        names = sorted({one["contestant"] for one in here})
        first = next((name for name in ("auto", "gepa") if name in names), None)
        found += [
            f"With {calls:,} calls, {compared(here, first, name)}"
            for name in names
            if first is not None and name != first
        ]
    return found
