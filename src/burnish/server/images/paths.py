"""Paths of image runs in the API, without `/v1` as their contract has them, and what stands in them."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path

from burnish.support.names import NAME_PATTERN

FIRST_PARTS = ("eval-runs", "projects", "commits", "comparisons", "images", "image-models")
# Pictures are sent below it, and may be larger than other bodies.
UPLOADS = "/projects/"
RUN_ID = "0199d1c8-7b21-7d10-8a4c-5e6f7a8b9c0d"
PROJECT = "neon-diner"
COMMIT_ID = "0199d1c8-7b22-5c31-9e0f-1a2b3c4d5e6f"
RunId = Annotated[str, Path(min_length=1, max_length=100, examples=[RUN_ID])]
ProjectId = Annotated[str, Path(pattern=NAME_PATTERN, examples=[PROJECT])]
CommitId = Annotated[str, Path(min_length=1, max_length=100, examples=[COMMIT_ID])]
ComparisonId = Annotated[
    str, Path(min_length=1, max_length=100, examples=["0199d1c8-7b23-7f44-a1b2-c3d4e5f60718"])
]
Digest = Annotated[
    str,
    Path(
        pattern="^[0-9a-f]{64}$",
        description="The SHA-256 of the picture's bytes.",
        examples=["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"],
    ),
]


def is_image_path(path: str) -> bool:
    """Whether a path is of image runs and what belongs to them."""
    return path.removeprefix("/").partition("/")[0] in FIRST_PARTS
