"""Parameters that several routes of image runs take."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path

from burnish.app.names import NAME_PATTERN
from burnish.server.images import examples

RunId = Annotated[str, Path(min_length=1, max_length=100, examples=[examples.RUN_ID])]
ProjectId = Annotated[str, Path(pattern=NAME_PATTERN, examples=[examples.PROJECT_ID])]
CommitId = Annotated[str, Path(min_length=1, max_length=100, examples=[examples.COMMIT_ID])]
ComparisonId = Annotated[str, Path(min_length=1, max_length=100, examples=[examples.COMPARISON_ID])]
Digest = Annotated[
    str,
    Path(
        pattern="^[0-9a-f]{64}$",
        description="The SHA-256 of the picture's bytes.",
        examples=[examples.DIGEST],
    ),
]
