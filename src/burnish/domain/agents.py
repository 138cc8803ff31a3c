"""What is improved and what judges it: the protocols an evaluation runs on."""

from __future__ import annotations

from typing import Protocol

from burnish.domain.configuration import Configuration
from burnish.domain.items import AgentOutput, Item, Score


class Agent(Protocol):
    """Runs one input under a configuration. Safe to run from many tasks at once.

    A failure is raised; the runner records it as a failed item. `fingerprint` changes whenever an
    equal configuration and item may be answered otherwise (another model, changed code). None
    means that this cannot be known, so nothing of this agent is cached.
    """

    name: str
    configuration: Configuration
    fingerprint: str | None

    async def run(
        self, configuration: Configuration, item: Item, *, repeat: int
    ) -> AgentOutput: ...

    async def close(self) -> None: ...


class Scorer(Protocol):
    """Judges one output. Never raises for a bad output: that is a score of 0 with a reason.

    `fingerprint` changes whenever equal outputs may be judged otherwise; None means unknown.
    """

    name: str
    fingerprint: str | None

    async def score(self, output: AgentOutput, item: Item) -> Score: ...
