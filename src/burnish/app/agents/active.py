"""Active configurations for production code: read from a database, a file or a server, and kept."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from burnish.app.wiring import Workspace, database_location, require_database
from burnish.domain import BurnishError, Configuration, Json, UnavailableError, UsageError
from burnish.support.secrets import without_secrets
from burnish.support.sync_calls import run_sync

Given = Configuration | Mapping[str, Any] | None
_log = logging.getLogger(__name__)
_READ_SECONDS = 10.0
_RETRY_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveConfiguration:
    """What an agent is to run under now. `version` is None where the source counts none.

    `stale` says that the source is away and that this is its last answer, or the caller's default.
    """

    agent: str
    configuration: Configuration
    source: str
    version: int | None = None
    stale: bool = False

    @property
    def sections(self) -> Mapping[str, str]:
        """The texts by path."""
        return self.configuration.sections

    @property
    def parameters(self) -> Mapping[str, Json]:
        """The parameters by name."""
        return self.configuration.parameters

    @property
    def examples(self) -> Sequence[Mapping[str, Json]]:
        """The examples that are shown, in order."""
        return self.configuration.examples


def active(
    agent: str,
    *,
    db: str | Path | None = None,
    file: str | Path | None = None,
    url: str | None = None,
    api_key_env: str = "BURNISH_API_KEY",
    ttl: float = 60.0,
    default: Given = None,
) -> ActiveConfiguration:
    """The configuration that was promoted for an agent, for code that runs in production.

    It comes from `url`, a Burnish server (with the key in the variable `api_key_env`, if there is
    one), from `file` (burnish.toml, or what `burnish export ID -f json` writes), or from the database
    `db`, by default that of `evaluate`. It is asked for again after `ttl` seconds. While the source is
    away, its last answer stands, and a line in the log says so. `default` is taken where nothing was
    promoted, and where the source is away before it has answered once.
    """
    source = _source(agent, db=db, file=file, url=url, api_key_env=api_key_env)
    return _known.get(source, ttl=ttl, default=default)


async def active_async(agent: str, **options: Any) -> ActiveConfiguration:
    """`active` for async code: whoever else uses the event loop goes on meanwhile."""
    return await asyncio.to_thread(active, agent, **options)


@dataclass(frozen=True, slots=True)
class Source:
    """Where an active configuration is read; equal ones share what was read."""

    agent: str
    name: str
    read: Callable[[], ActiveConfiguration]


@dataclass(slots=True)
class _Known:
    """The last answer of a source, what it failed with since, and until when nobody asks again."""

    reading: threading.Lock = field(default_factory=threading.Lock)
    value: ActiveConfiguration | None = None
    error: BurnishError | None = None
    until: float = float("-inf")


class ActiveConfigurations:
    """Answers by source. Threads may ask at once: one of them reads, the others get what is known."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[tuple[str, str], _Known] = {}
        self._changing = threading.Lock()

    def get(
        self,
        source: Source,
        *,
        ttl: float,
        default: Given = None,
    ) -> ActiveConfiguration:
        """What is known if it is young enough, else what the source says now."""
        with self._changing:
            known = self._known.setdefault((source.agent, source.name), _Known())
        asked = known.value is not None or known.error is not None
        if self._clock() >= known.until and known.reading.acquire(blocking=not asked):
            try:
                if self._clock() >= known.until:
                    self._read(source, known, ttl, default)
            finally:
                known.reading.release()
        return _answer(source, known, default)

    def _read(self, source: Source, known: _Known, ttl: float, default: Given) -> None:
        try:
            known.value, known.error = source.read(), None
            known.until = self._clock() + ttl
        except BurnishError as error:
            known.error, last = error, known.value
            known.until = self._clock() + min(ttl, _RETRY_SECONDS)
            if last is not None or default is not None:
                _log.warning(
                    "the active configuration of %r cannot be read from %s (%s); going on with %s",
                    source.agent,
                    source.name,
                    without_secrets(str(error)),
                    "the default" if last is None else "its last answer",
                )


def _answer(source: Source, known: _Known, default: Given) -> ActiveConfiguration:
    value, error = known.value, known.error
    if value is not None:
        return value if error is None else replace(value, stale=True)
    assert error is not None
    if default is None:
        raise error
    return ActiveConfiguration(
        agent=source.agent,
        configuration=Configuration.of(default),
        source="default",
        stale=True,
    )


_known = ActiveConfigurations()


def _source(
    agent: str, *, db: str | Path | None, file: str | Path | None, url: str | None, api_key_env: str
) -> Source:
    given = [name for name, one in (("db", db), ("file", file), ("url", url)) if one is not None]
    if len(given) > 1:
        raise UsageError(
            what=f"the active configuration of {agent!r} cannot be read",
            why=f"several sources are given: {', '.join(given)}",
            fix="give one of db, file and url",
            code="invalid_request",
        )
    if url is not None:
        base = url.rstrip("/")
        return Source(agent, _place(base), lambda: _from_server(agent, base, api_key_env))
    if file is not None:
        path = Path(file).expanduser().absolute()
        return Source(agent, str(path), lambda: _from_file(agent, path))
    location = database_location(Path.cwd(), None if db is None else str(db))
    name = _place(location)
    return Source(agent, name, lambda: run_sync(_from_database(agent, location, name)))


def _place(location: str) -> str:
    """A path or URL as logs may show it: without names, passwords and queries."""
    if "://" not in location:
        return location
    parts = urlsplit(location)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


async def _from_database(agent: str, location: str, name: str) -> ActiveConfiguration:
    require_database(location)
    try:
        async with asyncio.timeout(_READ_SECONDS), Workspace.open(location) as workspace:
            found = await workspace.agents.active_version(agent)
    except TimeoutError:
        raise _away(agent, f"the database did not answer within {_READ_SECONDS:g} s") from None
    if found is None:
        raise UsageError(
            what=f"the agent {agent!r} has no active configuration",
            why=f"nothing was promoted for it in {name}",
            fix="run `burnish promote`, or give a default=",
            code="not_found",
        )
    return ActiveConfiguration(
        agent=agent, configuration=found.configuration, source=name, version=found.version
    )


def _from_file(agent: str, path: Path) -> ActiveConfiguration:
    if path.suffix == ".toml":
        from burnish.config.settings import load_settings  # noqa: PLC0415 - other sources need none

        spec = load_settings(path).agent_spec()
        name, configuration = spec.name, Configuration.of(spec.configuration)
    else:
        try:
            document = json.loads(path.read_bytes())
        except (OSError, ValueError) as error:
            raise _unreadable(agent, f"{path} cannot be read: {error}") from error
        if not isinstance(document, Mapping):
            raise _unreadable(agent, f"{path} holds no object")
        name = document.get("agent", agent)
        configuration = Configuration.of(document.get("configuration", document))
    if name != agent:
        raise _unreadable(agent, f"{path} is of the agent {name!r}")
    return ActiveConfiguration(agent=agent, configuration=configuration, source=str(path))


def _from_server(agent: str, base: str, api_key_env: str) -> ActiveConfiguration:
    import httpx2  # noqa: PLC0415 - slow to load, and only this source needs it

    key = os.environ.get(api_key_env)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    address = f"{base}/v1/private/agents/{quote(agent, safe='')}"
    try:
        answer = httpx2.get(address, headers=headers, timeout=_READ_SECONDS)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise _away(agent, f"{_place(base)}: {type(error).__name__}") from error
    if answer.status_code >= 500 or answer.status_code == 429:
        raise _away(agent, f"{_place(base)} answered with status {answer.status_code}")
    if answer.status_code != 200:
        codes = {404: "not_found", 401: "bad_key", 403: "bad_key"}
        raise UsageError(
            what=f"the active configuration of {agent!r} cannot be read",
            why=f"{_place(base)} answered with status {answer.status_code}",
            fix=f"check the url, the agent's name and the key in {api_key_env}",
            code=codes.get(answer.status_code, "request_refused"),
        )
    try:
        document = answer.json()
        configuration = Configuration.of(document["configuration"])
    except (ValueError, KeyError, TypeError) as error:
        raise _away(agent, f"{_place(base)} answered as no Burnish server does") from error
    return ActiveConfiguration(
        agent=agent,
        configuration=configuration,
        source=_place(base),
        version=document.get("active_version"),
    )


def _unreadable(agent: str, why: str) -> UsageError:
    return UsageError(
        what=f"the active configuration of {agent!r} cannot be read",
        why=why,
        fix="give burnish.toml, or what `burnish export ID -f json` writes",
        code="missing_file",
    )


def _away(agent: str, why: str) -> UnavailableError:
    return UnavailableError(
        what=f"the active configuration of {agent!r} cannot be read",
        why=why,
        fix="check that the source runs and can be reached from here, or give a default=",
    )
