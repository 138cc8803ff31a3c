"""One `burnish worker`, from its request to its end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
from collections.abc import Iterator
from dataclasses import replace

from burnish.app.compress.requested import Project
from burnish.app.optimize.runners import MAILBOX_VARIABLE, RunnerChoice
from burnish.app.worker.worker import WorkerNews, WorkerPlan, work
from burnish.cli.console import Session
from burnish.cli.project_location import Place
from burnish.cli.worker_request import WorkerRequest
from burnish.domain import UsageError
from burnish.support.secrets import without_secrets


def run_worker(session: Session, place: Place, request: WorkerRequest) -> None:
    """Serve until a signal; returning is a clean end."""
    plan = _plan(place, request)
    note = RunnerChoice(mailbox=plan.mailbox).note(plan.database)
    if note is not None:
        session.messages.print(note, soft_wrap=True)
    with _log_on_stderr(session):
        asyncio.run(work(plan, on_start=lambda news: _tell(session, news)))
    session.say("stopped; what was not finished went back for other workers")


def _plan(place: Place, request: WorkerRequest) -> WorkerPlan:
    settings = place.settings()
    plan = WorkerPlan(
        project=Project(
            agent=settings.agent_spec(), suite=settings.suite_spec(), settings=settings
        ),
        folder=place.config.absolute().parent,
        mailbox=request.mailbox or os.environ.get(MAILBOX_VARIABLE) or _no_mailbox(),
        database=place.database,
        loops=request.loops,
        overrides=request.overrides,
        concurrency=request.concurrency,
        models=settings.models,
    )
    group = replace(
        plan.group,
        grace_seconds=request.grace,
        health_host=request.health_host,
        health_port=request.health_port,
        stall_seconds=request.stall,
        exit_on_stall=request.exit_on_stall,
    )
    return replace(plan, group=group)


def _no_mailbox() -> str:
    raise UsageError(
        what="the worker has nothing to listen on",
        why="no mailbox is named",
        fix=f"give --mailbox redis://HOST:6379/0, or set {MAILBOX_VARIABLE}",
        code="no_mailbox",
    )


def _tell(session: Session, news: WorkerNews) -> None:
    session.say(f"listening on {news.mailbox}: {', '.join(news.mailboxes)}")
    session.say(f"override tags: {news.overrides}")
    if news.health is not None:
        session.say(f"health: {news.health}/health/live and {news.health}/health/ready")
    session.say(f"process {os.getpid()}; SIGTERM or Ctrl-C drains")
    session.out.flush()


class _Lines(logging.Formatter):
    """A line a record, without secrets."""

    def format(self, record: logging.LogRecord) -> str:
        """Time, level and text."""
        text = f"{self.formatTime(record, '%H:%M:%S')} {record.levelname.lower()} "
        return without_secrets(text + record.getMessage().replace("\n", " "))


@contextlib.contextmanager
def _log_on_stderr(session: Session) -> Iterator[None]:
    """Nobody watches a worker: what it meets goes to stderr, for its supervisor to keep."""
    if session.debug:
        yield  # Everything is logged already.
        return
    logger = logging.getLogger("burnish")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines())
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
