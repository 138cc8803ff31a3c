"""Promotions: what is sent, and what came of it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from burnish.app.agents.promotions import Promoted, PromotionRequest
from burnish.server.agents.schemas import DifferenceView, VersionView
from burnish.server.http import examples
from burnish.server.http.logs import caller
from burnish.server.http.requests import ExpectedVersion, Note, Person, Strict


class Promote(Strict):
    """Who promotes, and why. Without `expected_version` the agent must still run under what the
    run began with.
    """

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"promoted_by": "ada", "note": "+0.16 on held-out items"}]}
    )

    promoted_by: Person
    note: Note = ""
    expected_version: ExpectedVersion = None

    def request(self, candidate_id: str | None) -> PromotionRequest:
        """As promotions take it, with the name of the key that was used."""
        key = caller.get()
        return PromotionRequest(
            promoted_by=self.promoted_by,
            note=self.note,
            candidate_id=candidate_id,
            expected_version=self.expected_version,
            origin={} if key is None else {"key": key},
        )


class PromoteBest(Promote):
    """The same for a candidate that is named here; without one it is the best."""

    candidate_id: str | None = Field(
        default=None, min_length=1, max_length=100, examples=[examples.CANDIDATE_ID]
    )


class PromotionView(BaseModel):
    """The new active version, what it changes, and what speaks against it all the same."""

    version: VersionView
    candidate_id: str
    difference: DifferenceView
    warnings: list[str]

    @classmethod
    def of(cls, promoted: Promoted) -> PromotionView:
        """From what was done."""
        return cls(
            version=VersionView.of(promoted.version),
            candidate_id=promoted.candidate.id,
            difference=DifferenceView.of(promoted.difference),
            warnings=list(promoted.warnings),
        )
