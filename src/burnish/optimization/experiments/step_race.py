"""Race of the trials of one step: each waits after a block until the others have run it too."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from burnish.optimization.racing import Racing


class StepRace:
    """Who ends after which block, by what all trials of a step scored on it and those before.

    What is decided depends on the scores alone, so a step that is continued decides as before.
    """

    def __init__(self, racing: Racing, members: Sequence[str]) -> None:
        self._racing = racing
        # By trial, its scores after each block.
        self._reached: dict[str, list[dict[str, float]]] = {member: [] for member in members}
        self._over: set[str] = set()
        self._ended: dict[int, dict[str, str]] = {}
        self._looks: dict[int, asyncio.Event] = {}

    async def after_block(
        self,
        member: str,
        scores: Mapping[str, float],
        incumbent: Mapping[str, float],
        order: Sequence[str],
    ) -> str | None:
        """Why a trial with these scores should end, once all others have come as far; or None."""
        self._reached[member].append(dict(scores))
        look = len(self._reached[member])
        ran = self._looks.setdefault(look, asyncio.Event())
        self._wake()
        await ran.wait()
        if look not in self._ended:
            self._ended[look] = self._racing.ended(self._racers(look), incumbent, order=order)
        return self._ended[look].get(member)

    def add_ended(
        self, member: str, scores: Mapping[str, float], blocks: Sequence[Sequence[str]]
    ) -> None:
        """Take part with what an earlier attempt left: nobody waits for this trial."""
        reached: dict[str, float] = {}
        for block in blocks:
            ran = {item: scores[item] for item in block if item in scores}
            if not ran:
                break
            reached |= ran
            self._reached[member].append(dict(reached))
        self.leave(member)

    def leave(self, member: str) -> None:
        """However a trial ended, nobody waits for it any more."""
        self._over.add(member)
        self._wake()

    def _racers(self, look: int) -> dict[str, dict[str, float]]:
        """Those that came so far and were not told to end before."""
        gone = {name for earlier, ended in self._ended.items() if earlier < look for name in ended}
        return {
            member: reached[look - 1]
            for member, reached in self._reached.items()
            if len(reached) >= look and member not in gone
        }

    def _wake(self) -> None:
        for look, ran in self._looks.items():
            if all(
                len(reached) >= look or member in self._over
                for member, reached in self._reached.items()
            ):
                ran.set()
