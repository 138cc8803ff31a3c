"""Parameters that many routes take."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query

from burnish.server.http import examples

OptimizationId = Annotated[
    str, Path(min_length=1, max_length=100, examples=[examples.OPTIMIZATION_ID])
]
CandidateId = Annotated[str, Path(min_length=1, max_length=100, examples=[examples.CANDIDATE_ID])]
Limit = Annotated[int, Query(ge=1, le=500, description="How many at most.")]
Cursor = Annotated[
    str | None,
    Query(max_length=2000, description="`next_cursor` of the page before, with the same sort."),
]
