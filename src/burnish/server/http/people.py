"""Who did something and why, as requests say it."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from burnish.app.names import NAME_PATTERN

Person = Annotated[str, Field(min_length=1, max_length=200, examples=["ada"])]
Note = Annotated[str, Field(max_length=2000)]
NewName = Annotated[str, Field(pattern=NAME_PATTERN, examples=["support-router"])]
VersionNumber = Annotated[int, Field(ge=1, lt=2**31)]
ExpectedVersion = Annotated[
    int | None,
    Field(
        ge=0,
        lt=2**31,
        description="The active version that you have seen (0: none). 409 when it is another by "
        "now.",
    ),
]


class Strict(BaseModel):
    """A request: unknown fields are mistakes, and values are what they are."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
