"""Runners of experiments by name: this process, a mailbox's workers, Ray, another package's."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from burnish.domain import BurnishError, ExperimentRepository, Lease, UnavailableError, UsageError
from burnish.optimization.attempt import MakeAdapter
from burnish.optimization.budget_gate import BudgetGate
from burnish.optimization.experiments.block_adapter import BlockExperimentAdapter, ExperimentInputs
from burnish.optimization.experiments.masks import CandidateMaterializer
from burnish.runtime.shards.blocks import ShardSettings
from burnish.runtime.shards.messages import SHARD_REQUESTS
from burnish.support.entry_points import Seam
from burnish.support.hints import did_you_mean

MAILBOX_VARIABLE = "BURNISH_MAILBOX"
_EXAMPLE = "redis://127.0.0.1:6379/0"
_ANSWER_SECONDS = 5.0
_REDIS = ("redis", "rediss", "unix")
_RAY_VARIABLE = "RAY_ADDRESS"
# Ray's words for a cluster of this machine.
_RAY_WORDS = ("auto", "local")
_HERE = ("127.0.0.1", "localhost", "::1", *_RAY_WORDS, None)
RUNNERS = ("local", "mailbox", "ray")
SEAM = Seam(
    group="burnish.runners",
    noun="runner",
    wants="a function (database, folder) that returns what makes a run's adapter",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerChoice:
    """What a user said about where to evaluate; nothing is the process itself."""

    runner: str | None = None
    mailbox: str | None = None
    ray_address: str | None = None
    settings: ShardSettings = field(default_factory=ShardSettings)

    @property
    def name(self) -> str:
        """The runner that was named, or the one whose address was."""
        if self.runner is not None:
            return self.runner
        if self.ray_address is not None:
            return "ray"
        return "mailbox" if self.mailbox is not None else "local"

    def make_adapter(self, database: str, folder: Path) -> MakeAdapter | None:
        """What makes an attempt's adapter; None is the local one. Raises for a bad choice."""
        if self.name not in RUNNERS:
            return _third_party(self.name, database, folder)
        if self.name == "local":
            return None
        if self.name == "ray":
            from burnish.app.optimize.ray_runner import RayRunner  # noqa: PLC0415 - ray is an extra

            return RayRunner(self.ray_address or "auto", database, folder, self.settings)
        return MailboxRunner(self._url(), self.settings)

    async def require_reachable(self) -> None:
        """UnavailableError, before anything is begun, when mailbox or cluster do not answer."""
        if self.name == "mailbox":
            await require_answer(self._url())
        elif self.name == "ray":
            await _require_cluster(self.ray_address or os.environ.get(_RAY_VARIABLE))

    def _url(self) -> str:
        url = self.mailbox or os.environ.get(MAILBOX_VARIABLE)
        if not url:
            raise UsageError(
                what="the run cannot reach its workers",
                why="no mailbox is named",
                fix=f"give --mailbox redis://HOST:6379/0, or set {MAILBOX_VARIABLE}",
                code="no_mailbox",
            )
        return check_mailbox(url)

    def note(self, database: str) -> str | None:
        """What workers on other machines could not do."""
        if self.name not in ("mailbox", "ray") or "postgres" in database.partition(":")[0]:
            return None
        is_ray = self.name == "ray"
        parts = _read_ray(self.ray_address or _RAY_WORDS[0]) if is_ray else _read(self._url())
        if parts.hostname in _HERE:
            return None
        return (
            "the database is a file of this machine: workers on other machines cannot write to it; "
            "name a PostgreSQL database with --db for those"
        )


def _third_party(name: str, database: str, folder: Path) -> MakeAdapter:
    """The runner of an installed package."""
    make_runner = SEAM.load(name)
    if make_runner is None:
        known = [*RUNNERS, *sorted(set(SEAM.installed()) - set(RUNNERS))]
        raise UsageError(
            what=f"there is no runner {name!r}",
            why=f"runners are {', '.join(known)}",
            fix=did_you_mean(name, known, "name one of them"),
            code="unknown_runner",
        )
    try:
        make_adapter = make_runner(database, folder)
    except BurnishError:
        raise
    except Exception as error:
        why = f"it fails with {type(error).__name__}: {error}"
        raise SEAM.broken(f"the runner {name!r} cannot be made", why) from error

    def make(*inputs: Any) -> BlockExperimentAdapter:
        adapter = make_adapter(*inputs)
        if isinstance(adapter, BlockExperimentAdapter):
            return adapter
        raise SEAM.broken(
            f"the runner {name!r} cannot be used",
            f"it makes a {type(adapter).__name__}",
            "make a BlockExperimentAdapter with a block runner of your own",
        )

    if callable(make_adapter):
        return make
    raise SEAM.broken(
        f"the runner {name!r} cannot be used",
        f"it returns a {type(make_adapter).__name__}",
        f"register {SEAM.wants}",
    )


class WorkerRunner:
    """Base of what makes adapters whose experiments are evaluated by workers, shard by shard."""


class MailboxRunner(WorkerRunner):
    """Makes adapters whose workers listen on a Redis or Valkey server."""

    def __init__(
        self, url: str, settings: ShardSettings | None = None, *, mailbox: str = SHARD_REQUESTS
    ) -> None:
        self._url = url
        self._settings = settings or ShardSettings()
        self._mailbox = mailbox
        self._place = place_of(url)

    def __call__(
        self,
        workbench: ExperimentInputs,
        experiments: ExperimentRepository,
        materializer: CandidateMaterializer,
        gate: BudgetGate,
        lease: Lease,
    ) -> BlockExperimentAdapter:
        """An adapter with a connection of its own, which it closes."""
        from burnish.runtime.mailboxes import RedisMailbox  # noqa: PLC0415 - redis is an extra
        from burnish.runtime.shards.blocks import MailboxExperimentAdapter  # noqa: PLC0415
        from burnish.runtime.shards.transport import MailboxTransport  # noqa: PLC0415
        from burnish.support.redis_client import open_client  # noqa: PLC0415 - an extra

        client = open_client(self._url, what="the mailboxes cannot be opened")
        transport = MailboxTransport(
            RedisMailbox(self._mailbox, client),
            where=self._place,
            advice=f"start one with `burnish worker --mailbox {self._place}` in the project's folder",
            on_close=client.aclose,
        )
        return MailboxExperimentAdapter(
            workbench,
            experiments,
            materializer,
            gate,
            lease,
            transport=transport,
            settings=self._settings,
        )


async def require_answer(url: str) -> None:
    """UnavailableError when no Redis answers at the address."""
    from burnish.support.redis_client import open_client  # noqa: PLC0415 - an extra

    client = open_client(url, what="the mailboxes cannot be opened")
    from redis.exceptions import RedisError  # noqa: PLC0415 - it is there if the client is

    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            await client.ping()
    except (OSError, TimeoutError, RedisError) as error:
        raise UnavailableError(
            what="the mailbox cannot be reached",
            why=f"{place_of(url)} does not answer as a Redis or Valkey server"
            f" ({type(error).__name__})",
            fix="start it, or correct the address, user and password",
            code="mailbox_unavailable",
        ) from None
    finally:
        await client.aclose()


async def _require_cluster(address: str | None) -> None:
    """Ray itself would try for ever to reach what is not there, and hear no signal meanwhile."""
    parts = _read_ray(address or _RAY_WORDS[0])
    if parts.hostname in _RAY_WORDS or parts.port is None:
        return
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            _, writer = await asyncio.open_connection(parts.hostname, parts.port)
        writer.close()
    except (OSError, TimeoutError, UnicodeError) as error:
        raise UnavailableError(
            what="the Ray cluster cannot be reached",
            why=f"nothing answers at {address} ({type(error).__name__})",
            fix="start one with `ray start --head`, or correct --ray-address",
            code="ray_unavailable",
        ) from None


def check_mailbox(url: str) -> str:
    """The address again. Refuses what is no server's; it may hold a password, so it is not shown."""
    scheme, separator, _ = url.partition("://")
    if not separator or scheme not in _REDIS:
        raise _invalid_address("it does not begin with redis:// or rediss://")
    _read(url)
    return url


def place_of(url: str) -> str:
    """An address without user and password."""
    parts = _read(url)
    host = parts.hostname or ""
    if ":" in host:
        host = f"[{host}]"
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{host}{port}{parts.path}"


def _read_ray(address: str) -> SplitResult:
    """HOST:PORT, ray://HOST:PORT or a word of Ray's."""
    return _read(address if "://" in address else f"//{address}", like="HOST:6379")


def _read(url: str, *, like: str = _EXAMPLE) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise _invalid_address("its host or port cannot be understood", like) from None
    return parts


def _invalid_address(why: str, like: str = _EXAMPLE) -> UsageError:
    return UsageError(
        what="the address cannot be used",
        why=why,
        fix=f"write it like {like}",
        code="invalid_address",
    )
