"""Masks: the temporary tag that one candidate runs under."""

from __future__ import annotations

from burnish.domain import (
    Candidate,
    Configuration,
    InvariantError,
    Lease,
    Overlay,
    OverlayStore,
)

NAMESPACE = "burnish.masks"


class CandidateMaterializer:
    """Writes a candidate's overlay under its mask, and takes it away again.

    A mask holds everything in which the candidate differs from the baseline, and the baseline itself
    was resolved with its own tag first: so what a tag builds on is never lost.
    """

    def __init__(
        self, store: OverlayStore, *, agent_name: str, baseline: Configuration, lease: Lease
    ) -> None:
        self._store = store
        self._lease = lease
        self._agent_name = agent_name
        self._baseline = baseline

    @staticmethod
    def mask_id(optimization_id: str, number: int) -> str:
        """The mask of a candidate, known before anything is written."""
        return f"opt-{optimization_id}-{number}"

    async def materialize(self, candidate: Candidate) -> None:
        """Write the mask; writing it twice is the same as once."""
        overlay = Overlay.between(self._baseline, candidate.configuration)
        await self._store.put(
            NAMESPACE, self._agent_name, candidate.mask_id, overlay, lease=self._lease
        )

    async def resolve(self, mask_id: str) -> Configuration:
        """The configuration under a mask."""
        overlay = await self._store.get(NAMESPACE, self._agent_name, mask_id)
        if overlay is None:
            raise InvariantError(
                what=f"the mask {mask_id} cannot be resolved",
                why="it is not in the overrides store",
                fix="resume the optimization; if it happens again, report it",
            )
        return overlay.apply(self._baseline)

    async def remove(self, mask_id: str) -> None:
        """Take a mask away; one that is gone is fine."""
        await self._store.delete(NAMESPACE, self._agent_name, mask_id, lease=self._lease)

    async def sweep(self, optimization_id: str) -> None:
        """Take away whatever masks an optimization left, for instance in a crash."""
        prefix = f"opt-{optimization_id}-"
        for tag in await self._store.list_tags(NAMESPACE, self._agent_name, prefix=prefix):
            await self._store.delete(NAMESPACE, self._agent_name, tag, lease=self._lease)
