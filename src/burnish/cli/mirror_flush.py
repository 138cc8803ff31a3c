"""One `burnish mirror flush`."""

from __future__ import annotations

from dataclasses import asdict

from burnish.cli.console import Session
from burnish.cli.mirror_lines import mirror_lines
from burnish.cli.project_location import Place
from burnish.cli.running import run
from burnish.integrations.opik.mirror import MirrorOutcome, flush


def flush_mirrors(session: Session, place: Place) -> MirrorOutcome:
    """Send what is left, and say how far that came."""
    outcome = run(_flush(place))
    if session.json_output:
        session.print_document(asdict(outcome))
    else:
        for line in mirror_lines(outcome):
            session.console.print(line, soft_wrap=True)
    return outcome


async def _flush(place: Place) -> MirrorOutcome:
    async with place.read() as workspace:
        return await flush(workspace)
