"""What the end of an image run means for the exit code, and what has to be said about it."""

from __future__ import annotations

from burnish.cli.console import Session
from burnish.cli.notices import print_notice
from burnish.domain import InvariantError, UnavailableError, UsageError
from burnish.domain.images import ImageRun, ImageRunStatus

_STOPPED_BY_SOMEBODY = 130
_BUG = "IMAGE_PIPELINE_FAILED"


def exit_code(session: Session, run: ImageRun) -> int:
    """0 also for a degraded run, with a warning; a failed one says why."""
    if run.status is ImageRunStatus.COMPLETED_DEGRADED:
        lines = [("warning", "the run is degraded: something was replaced by a fallback")]
        print_notice(session, [*lines, *(("why", words) for words in run.degradations)])
    if run.status is ImageRunStatus.CANCELLED:
        return _STOPPED_BY_SOMEBODY
    if run.status is not ImageRunStatus.FAILED:
        return 0
    error = run.error or {}
    lines = [("error", "the image run failed"), ("why", str(error.get("message", "unknown")))]
    print_notice(session, [*lines, ("fix", str(error.get("fix", "run it again")))])
    if error.get("retryable"):
        return UnavailableError.exit_code
    return InvariantError.exit_code if error.get("code") == _BUG else UsageError.exit_code
