"""Which runs of items a list shows, from its query."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Depends, Query

from burnish.domain import Outcome, RoundEnd
from burnish.domain.read_models import ItemFilter


async def _wanted(
    failing: Annotated[bool, Query(description="Only those that did not pass.")] = False,
    outcome: Annotated[
        Outcome | Literal["refined"] | None,
        Query(description="Only outputs of which refinement made this; `refined`: anything."),
    ] = None,
    ended: Annotated[
        RoundEnd | None, Query(description="Only outputs whose rounds ended because of this.")
    ] = None,
) -> ItemFilter:
    return ItemFilter(
        failing=failing,
        refined=outcome == "refined",
        outcome=outcome if isinstance(outcome, Outcome) else None,
        ended=ended,
    )


WantedItems = Annotated[ItemFilter, Depends(_wanted)]
