"""Harmful edits that a compression lets through, by the number of runs of each item."""

from __future__ import annotations

import random
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import burnish
from bench.results import Section
from burnish.domain import Configuration, text_hash
from burnish.models import count_tokens
from burnish.optimizers.compress.strategies import SectionEdit

_SEEDS = 100
_ITEMS = 40
_LONG = "word " * 30
# So many of the items fail in such a share of their runs under the harmful edit.
_HARMS = ((3, 0.3), (10, 0.2))
_RUNS = (1, 3, 9)


class _TwoEdits:
    """The edit of `s0` does harm, that of `s1` does none; both save as much."""

    name, min_section_tokens = "two", 1

    async def propose(
        self, configuration: Configuration, paths: Sequence[str]
    ) -> list[SectionEdit]:
        """One of each section."""
        texts = configuration.sections
        return [
            SectionEdit(
                path=path,
                original_hash=text_hash(texts[path]),
                proposed_body="short",
                original_tokens=count_tokens(texts[path]),
                proposed_tokens=1,
                strategy="two",
                strength="1",
            )
            for path in paths
            if path != "user"
        ]


def run() -> Section:
    """`burnish.compress` in worlds in which the right answer is known."""
    rows = [_row(items, rate, runs) for items, rate in _HARMS for runs in _RUNS]
    return Section(
        name="compress-gate",
        title="The gate of a compression: an edit that makes items fail now and then",
        command="python -m bench compress-gate",
        columns=["harm", "eval_runs", "harmful accepted", "harmless accepted", "seeds"],
        rows=rows,
        notes=[f"{_ITEMS} items that the baseline passes in all runs; both edits save as much."],
    )


def _row(items: int, rate: float, runs: int) -> list[Any]:
    with tempfile.TemporaryDirectory(prefix="burnish-gate-") as folder:
        found = [_accepted(seed, items, rate, runs, Path(folder)) for seed in range(_SEEDS)]
    harm = f"{items} of {_ITEMS} items fail {rate:.0%} of their runs"
    return [
        harm,
        runs,
        sum("s0" in one for one in found),
        sum("s1" in one for one in found),
        _SEEDS,
    ]


def _accepted(seed: int, items: int, rate: float, runs: int, folder: Path) -> set[str]:
    draw, lock = random.Random(seed), threading.Lock()

    def answer(configuration: dict[str, Any], item: dict[str, Any]) -> str:
        with lock:
            luck = draw.random()
        harmed = item["hit"] and "KEY" not in configuration["sections"]["s0"]
        return "bad" if harmed and luck < rate else "ok"

    sections = {"s0": f"KEY {_LONG}", "s1": f"KEY {_LONG}", "user": "{{q}}"}
    report = burnish.compress(
        burnish.Agent(name="w", run=answer, configuration={"sections": sections}),
        burnish.Suite(
            dataset=[{"q": str(n), "hit": n < items, "ok": "ok"} for n in range(_ITEMS)],
            scorers=[{"kind": "exact_match", "field": "ok"}],
        ),
        strategies=[_TwoEdits()],
        lines=False,
        min_section_tokens=1,
        eval_runs=runs,
        seed=seed,
        db=folder / f"{seed}.db",
    ).report
    return {one.section_path for one in report.modifications}
