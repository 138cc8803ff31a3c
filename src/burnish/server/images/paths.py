"""Where image runs are in the API: paths of their own, without `/v1`, as their contract has them."""

from __future__ import annotations

FIRST_PARTS = ("eval-runs", "projects", "commits", "comparisons", "images", "image-models")
# Pictures are sent below it, and may be larger than other bodies.
UPLOADS = "/projects/"


def is_image_path(path: str) -> bool:
    """Whether a path is of image runs and what belongs to them."""
    return path.removeprefix("/").partition("/")[0] in FIRST_PARTS
