"""The plain algorithm that compression is measured against.

Every edit alone on all items, then all that passed together, then, if that regresses, one by one from
the largest saving on. Every evaluation runs all items so many times, and what the baseline passed in
every run must pass in every run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from burnish.optimizers.compress.edits import SectionEdit

Answer = Callable[[Mapping[str, str], str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainResult:
    """What it accepted."""

    sections: Mapping[str, str]
    saved: int


def plain_compression(
    sections: Mapping[str, str],
    edits: Sequence[SectionEdit],
    items: Sequence[str],
    answer: Answer,
    *,
    runs: int,
) -> PlainResult:
    """The algorithm; one edit a section."""

    def passed(chosen: Sequence[SectionEdit]) -> frozenset[str]:
        under = {**sections, **{edit.path: edit.proposed_body for edit in chosen}}
        each = [
            frozenset(item for item in items if answer(under, item) == "right") for _ in range(runs)
        ]
        return frozenset.intersection(*each)

    gate = passed([])
    alone = [edit for edit in edits if not gate - passed([edit])]
    chosen = alone
    if len(alone) > 1 and gate - passed(alone):
        chosen = []
        for edit in sorted(alone, key=lambda one: -one.token_reduction):
            if not gate - passed([*chosen, edit]):
                chosen = [*chosen, edit]
    return PlainResult(
        sections={**sections, **{edit.path: edit.proposed_body for edit in chosen}},
        saved=sum(edit.token_reduction for edit in chosen),
    )
