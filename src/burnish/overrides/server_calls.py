"""Calls to an overrides server: retries by one deadline, compare-and-swap between writers."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from burnish.domain import Clock, UnavailableError
from burnish.overrides.tag_store import Edit

T = TypeVar("T")
VersionT = TypeVar("VersionT")
_FIRST_REST_SECONDS = 0.02
_LONGEST_REST_SECONDS = 0.5
_SILENT = "it did not answer in time"


class PassingError(Exception):
    """A failure that another attempt may cure; it says why and never leaves this folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long one attempt may take, and everything that a call of the store does together."""

    attempt_seconds: float = 10.0
    deadline_seconds: float = 30.0
    first_wait_seconds: float = 0.1
    longest_wait_seconds: float = 2.0


@dataclass(frozen=True, slots=True)
class Found(Generic[VersionT]):
    """A document and what its server knows this state of it by."""

    data: bytes
    version: VersionT


class Calls:
    """The attempts of one call of the store, all under one deadline."""

    def __init__(self, patience: Patience, clock: Clock, where: str) -> None:
        self._patience = patience
        self._clock = clock
        self._where = where
        self._deadline = clock.monotonic() + patience.deadline_seconds

    async def answer(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """The attempt's result; it is repeated while it ends in PassingError and time is left."""
        wait = self._patience.first_wait_seconds
        number = 0
        why = _SILENT
        while True:
            number += 1
            seconds = min(self._patience.attempt_seconds, self._left())
            try:
                async with asyncio.timeout(max(0.0, seconds)):
                    return await attempt()
            except PassingError as error:
                why = str(error)
            except TimeoutError:
                # An attempt that the deadline cut short says nothing about the server.
                why = _SILENT if seconds == self._patience.attempt_seconds else why
            rest = wait * (0.5 + random.random() / 2)  # noqa: S311 - spreads those who failed
            if rest >= self._left():
                break
            await self._clock.sleep(rest)
            wait = min(wait * 2, self._patience.longest_wait_seconds)
        attempts = f"{number} attempt{'s' if number > 1 else ''}"
        raise UnavailableError(
            what=f"{self._where} cannot be used",
            why=f"{why}; gave up after {attempts} "
            f"in {self._patience.deadline_seconds:g} seconds at most",
            fix="check that the server runs and can be reached, or try again later",
            code="overrides_unavailable",
        )

    async def swap(
        self,
        edit: Edit,
        read: Callable[[], Awaitable[Found[VersionT] | None]],
        replace: Callable[[Found[VersionT] | None, bytes], Awaitable[bool]],
    ) -> None:
        """Read, edit and replace, again and again until no other write came in between.

        At each meeting of writers one of them gets through, so they all do in the end.
        """
        rest = _FIRST_REST_SECONDS
        while True:
            found = await self.answer(read)
            made = edit(None if found is None else found.data)
            if found is not None and made == found.data:
                return
            if await self._replaced(replace, found, made):
                return
            if self._left() <= 0:
                raise UnavailableError(
                    what=f"{self._where} was not written",
                    why="others kept writing it for "
                    f"{self._patience.deadline_seconds:g} seconds without a gap",
                    fix="try again later, or let fewer workers write to one tag",
                    code="overrides_busy",
                )
            await self._clock.sleep(random.random() * rest)  # noqa: S311 - spreads the writers
            rest = min(rest * 2, _LONGEST_REST_SECONDS)

    async def _replaced(
        self,
        replace: Callable[[Found[VersionT] | None, bytes], Awaitable[bool]],
        found: Found[VersionT] | None,
        made: bytes,
    ) -> bool:
        return await self.answer(lambda: replace(found, made))

    def _left(self) -> float:
        return self._deadline - self._clock.monotonic()
