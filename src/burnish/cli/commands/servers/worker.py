"""`burnish worker`: serves requests and experiments; `burnish mailbox`: looks into a mailbox."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

import typer

from burnish.app.compress.requested import Project
from burnish.app.optimize.runners import MAILBOX_VARIABLE, RunnerChoice, require_answer
from burnish.app.worker.worker import WorkerNews, WorkerPlan, work
from burnish.cli.console import Streams
from burnish.cli.options import Config, Db, Json, Overrides
from burnish.cli.project_location import ProjectLocation
from burnish.cli.running import run
from burnish.domain import UsageError
from burnish.domain.mailboxes import DeadLetter
from burnish.runtime.mailboxes import MESSAGE_TYPES, RedisMailbox
from burnish.runtime.mailboxes.message_types import UndecodableError, packed_body
from burnish.support.redis_client import open_client
from burnish.support.secrets import without_secrets

_MOST_LETTERS = 100


def worker(
    context: typer.Context,
    *,
    loops: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Which of main, eval and optimize, by commas; and runs, for those of servers.",
        ),
    ] = "main,eval,optimize",
    mailbox: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="The Redis or Valkey server, such as redis://HOST:6379/0.",
            show_default="BURNISH_MAILBOX",
        ),
    ] = None,
    overrides: Overrides = None,
    concurrency: Annotated[
        int | None,
        typer.Option(min=1, help="Requests at once.", show_default="the agent's own"),
    ] = None,
    optimizations: Annotated[int, typer.Option(min=1, help="Optimization requests at once.")] = 1,
    grace: Annotated[
        float,
        typer.Option(min=0, metavar="SECONDS", help="For what runs, after SIGTERM or Ctrl-C."),
    ] = 30.0,
    health_port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            help="Answer /health/live and /health/ready there; 0 is any free port.",
        ),
    ] = None,
    health_host: Annotated[
        str, typer.Option(metavar="HOST", help="Where the health port listens.")
    ] = "127.0.0.1",
    stall: Annotated[
        float,
        typer.Option(min=2, metavar="SECONDS", help="So long without life is a stalled worker."),
    ] = 60.0,
    exit_on_stall: Annotated[
        bool,
        typer.Option("--exit-on-stall", help="End a stalled worker with 70, to be started again."),
    ] = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Serve the agent of this folder to other processes and machines, until SIGTERM or Ctrl-C.

    Then nothing more is taken, what runs may end, and the rest goes back for other workers. A second
    signal ends at once.
    """
    request = WorkerRequest(
        loops=tuple(name.strip() for name in loops.split(",") if name.strip()),
        mailbox=mailbox,
        overrides=overrides,
        concurrency=concurrency,
        optimizations=optimizations,
        grace=grace,
        health_host=health_host,
        health_port=health_port,
        stall=stall,
        exit_on_stall=exit_on_stall,
    )
    streams: Streams = context.obj
    location = ProjectLocation.of(context, config, db)
    plan = _plan(location, request)
    note = RunnerChoice(mailbox=plan.mailbox).note(plan.database)
    if note is not None:
        streams.messages.print(note, soft_wrap=True)
    with _log_on_stderr(streams):
        asyncio.run(work(plan, on_start=lambda news: _tell(streams, news)))
    streams.say("stopped; what was not finished went back for other workers")


def mailbox_command(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Such as eval-requests.", show_default=False)
    ],
    *,
    mailbox: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="The Redis or Valkey server, such as redis://HOST:6379/0.",
            show_default="BURNISH_MAILBOX",
        ),
    ] = None,
    requeue: Annotated[
        bool, typer.Option("--requeue", help="Send the dead letters again, to be tried anew.")
    ] = False,
    json_output: Json = False,
) -> None:
    """Show what waits in a mailbox, or its dead letters, and send those again."""
    streams: Streams = context.obj
    url = mailbox or os.environ.get(MAILBOX_VARIABLE) or _no_mailbox()
    found = run(_dead_letters(url, name, requeue=requeue))
    if streams.json_output:
        streams.print_document(found)
        return
    streams.say(f"{name}: {found['waiting']} waiting or held, {len(found['dead'])} dead letters")
    for one in found["dead"]:
        sent = "sent again" if one["requeued"] else one["explanation"]
        streams.say(f"{one['message_id']}  {one['type']}  {one['reason']}: {sent}")


async def _dead_letters(url: str, name: str, *, requeue: bool) -> dict[str, Any]:
    """Looking leaves them where they are."""
    await require_answer(url)
    client = open_client(url, what="the mailbox cannot be opened")
    try:
        box: RedisMailbox[Any, Any] = RedisMailbox(name, client)
        letters = await box.dead_letters.receive(max_messages=_MOST_LETTERS)
        told = []
        for one in letters:
            again = requeue and await _sent_again(box, one.body)
            await (one.acknowledge() if again else one.nack())
            told.append({**asdict(one.body), "requeued": again})
        return {"mailbox": name, "waiting": await box.approximate_count(), "dead": told}
    finally:
        await client.aclose()


async def _sent_again(box: RedisMailbox[Any, Any], letter: DeadLetter) -> bool:
    """Whether it could be: what nobody can read goes nowhere."""
    try:
        body = MESSAGE_TYPES.decode(packed_body(letter))
    except UndecodableError:
        return False
    await box.send(body, reply_to=letter.reply_to)
    return True


def _plan(location: ProjectLocation, request: WorkerRequest) -> WorkerPlan:
    settings = location.settings()
    plan = WorkerPlan(
        project=Project(
            agent=settings.agent_spec(), suite=settings.suite_spec(), settings=settings
        ),
        folder=location.folder,
        mailbox=request.mailbox or os.environ.get(MAILBOX_VARIABLE) or _no_mailbox(),
        database=location.database,
        loops=request.loops,
        overrides=request.overrides,
        concurrency=request.concurrency,
        optimizations=request.optimizations,
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


def _tell(streams: Streams, news: WorkerNews) -> None:
    streams.say(f"listening on {news.mailbox}: {', '.join(news.mailboxes)}")
    streams.say(f"override tags: {news.overrides}")
    if news.health is not None:
        streams.say(f"health: {news.health}/health/live and {news.health}/health/ready")
    streams.say(f"process {os.getpid()}; SIGTERM or Ctrl-C drains")
    streams.out.flush()


class _Lines(logging.Formatter):
    """A line a record, without secrets."""

    def format(self, record: logging.LogRecord) -> str:
        """Time, level and text."""
        text = f"{self.formatTime(record, '%H:%M:%S')} {record.levelname.lower()} "
        return without_secrets(text + record.getMessage().replace("\n", " "))


@contextlib.contextmanager
def _log_on_stderr(streams: Streams) -> Iterator[None]:
    """Nobody watches a worker: what it meets goes to stderr, for its supervisor to keep."""
    if streams.debug:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerRequest:
    """The options as given."""

    loops: tuple[str, ...]
    mailbox: str | None = None
    overrides: str | None = None
    concurrency: int | None = None
    optimizations: int = 1
    grace: float = 30.0
    health_host: str = "127.0.0.1"
    health_port: int | None = None
    stall: float = 60.0
    exit_on_stall: bool = False
