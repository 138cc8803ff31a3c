"""Where a run is evaluated, as the command line says it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from burnish.app.optimize.runners import RunnerChoice
    from burnish.cli.console import Session

_PANEL = "Where to evaluate"

Runner = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="local, mailbox (on `burnish worker` processes) or ray.",
        show_default="BURNISH_RUNNER, else local",
        rich_help_panel=_PANEL,
    ),
]
Mailbox = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Evaluate on the workers that listen there, such as redis://HOST:6379/0.",
        show_default="with --runner mailbox: BURNISH_MAILBOX",
        rich_help_panel=_PANEL,
    ),
]
RayAddress = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Evaluate on a Ray cluster, such as HOST:6379.",
        show_default="with --runner ray: the cluster of this machine",
        rich_help_panel=_PANEL,
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerOptions:
    """The options as given."""

    runner: str | None = None
    mailbox: str | None = None
    ray_address: str | None = None

    def choice(self, session: Session) -> RunnerChoice:
        """What they come to; its notices are shown as they come."""
        from burnish.app.optimize.runners import RunnerChoice  # noqa: PLC0415 - only runs need it
        from burnish.runtime.shards import ShardSettings  # noqa: PLC0415

        def tell(text: str) -> None:
            session.messages.print(text, soft_wrap=True)

        named = self.mailbox is not None or self.ray_address is not None
        return RunnerChoice(
            runner=self.runner or (None if named else os.environ.get("BURNISH_RUNNER") or None),
            mailbox=self.mailbox,
            ray_address=self.ray_address,
            settings=ShardSettings(on_notice=tell),
        )
