"""Comparisons of equal prompts with answers that never came: how often one is called proven."""

from __future__ import annotations

import random

from bench.results import Section
from burnish.app.report.runs.evidence import is_proven
from burnish.optimization.confirmation import Confirmation, compare_scores
from burnish.optimization.outcome import evidence_document

COMPARISONS = 1_000
ITEMS = 100
SHARES = (0.0, 0.05, 0.25)
# 5 % with the room that so many comparisons leave to chance.
MOST = 0.05 + 0.015


def run() -> Section:
    """All shares, each with a test of all pairs that are left."""
    return Section(
        name="proofs",
        title="Equal prompts that are called proven",
        command="python -m bench proofs",
        columns=["outside errors on one arm", "comparisons", "proven", "at most", "p < 0.05"],
        rows=[
            [
                f"{share:.0%}",
                f"{COMPARISONS:,}",
                f"{proven:.1%}",
                f"{MOST:.1%}",
                f"{significant:.1%}",
            ]
            for share in SHARES
            for proven, significant in [rates(share, COMPARISONS)]
        ],
        notes=[
            f"{ITEMS} held-out items, both prompts right on 80 % of them, independently.",
            "`proven` is what every surface says; p < 0.05 is of the pairs that are left.",
        ],
    )


def rates(share: float, comparisons: int, *, items: int = ITEMS) -> tuple[float, float]:
    """How often equal prompts are proven to differ, and how often p < 0.05 in their favour."""
    draw = random.Random(f"{share}")
    proven = significant = 0
    for _ in range(comparisons):
        before = {
            str(n): float(draw.random() < 0.8) for n in range(items) if draw.random() >= share
        }
        after = {str(n): float(draw.random() < 0.8) for n in range(items)}
        found = compare_scores(before, after, planned=items, held_out=True)
        assert isinstance(found, Confirmation)
        proven += is_proven(evidence_document(found))
        significant += found.comparison.p_value < 0.05
    return proven / comparisons, significant / comparisons
