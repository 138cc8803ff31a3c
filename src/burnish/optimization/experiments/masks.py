"""Masks: the temporary tag that one candidate runs under."""

from __future__ import annotations

import logging

from burnish.domain import (
    BurnishError,
    Candidate,
    Configuration,
    InvariantError,
    Lease,
    Overlay,
    OverlayStore,
)

NAMESPACE = "burnish.masks"
log = logging.getLogger(__name__)


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
        # What was written in this attempt: somebody may change or drop a tag meanwhile.
        self._written: dict[str, Configuration] = {}

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
        self._written[candidate.mask_id] = candidate.configuration

    async def resolve(self, mask_id: str) -> Configuration:
        """The configuration under a mask; as it was written, whatever became of the tag since."""
        written = self._written.get(mask_id)
        if written is not None:
            problem = await tag_problem(
                self._store,
                mask_id,
                agent_name=self._agent_name,
                baseline=self._baseline,
                expected=written,
            )
            if problem is not None:
                log.warning("overrides tag %s %s; its candidate runs as proposed", mask_id, problem)
            return written
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
        self._written.pop(mask_id, None)

    async def sweep(self, optimization_id: str) -> None:
        """Take away whatever masks an optimization left, for instance in a crash."""
        prefix = f"opt-{optimization_id}-"
        for tag in await self._store.list_tags(NAMESPACE, self._agent_name, prefix=prefix):
            await self._store.delete(NAMESPACE, self._agent_name, tag, lease=self._lease)


async def tag_problem(
    store: OverlayStore,
    mask_id: str,
    *,
    agent_name: str,
    baseline: Configuration,
    expected: Configuration,
) -> str | None:
    """Why a mask does not say what it should, in words that go on after its name; None if it does."""
    try:
        overlay = await store.get(NAMESPACE, agent_name, mask_id)
    except BurnishError as error:
        return f"cannot be read ({error.why})"
    if overlay is None:
        return "is gone"
    # A baseline that was itself under a tag is not the agent's own: then all it says must be there.
    if expected.hash not in (overlay.apply(baseline).hash, overlay.apply(expected).hash):
        return "was changed by somebody"
    return None
