"""An image run while it goes on: what a display shows, and how to go on with it when it is stopped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from burnish.cli.project_location import Place
from burnish.cli.wording import short_id
from burnish.domain.images import ImageRun


@dataclass(slots=True)
class ImageWatch:
    """The run as it was last seen. Each of `listeners` is called with it when it changed."""

    run: ImageRun | None = None
    # Of several rounds: the command that goes on with all of them.
    resume: tuple[str, ...] | None = None
    listeners: list[Callable[[ImageRun], None]] = field(default_factory=list)

    def note(self, run: ImageRun) -> None:
        """It has changed."""
        self.run = run
        for listener in self.listeners:
            listener(run)

    def kept(self, place: Place) -> str | None:
        """What of a stopped run is kept, and the command that goes on with it."""
        if self.run is None or (self.run.status.ended and self.resume is None):
            return None
        command = place.command(*(self.resume or ("image", "resume", short_id(self.run.run_id))))
        return f"every finished picture and score is saved; go on with: {command}"
