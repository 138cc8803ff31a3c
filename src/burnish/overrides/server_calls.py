"""Calls to an overrides server: retries by one deadline, compare-and-swap between writers."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import count
from typing import Generic, TypeVar

from burnish.domain import Clock, UnavailableError
from burnish.domain.wording import counted
from burnish.overrides.tag_store import Edit
from burnish.support.retry import RetryPolicy, retry

T = TypeVar("T")
VersionT = TypeVar("VersionT")
_MEETINGS = RetryPolicy(first_wait_seconds=0.02, longest_wait_seconds=0.5)
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

    def policy(self, seconds: float) -> RetryPolicy:
        """For as many attempts as there is time for."""
        return RetryPolicy(
            max_attempts=None,
            first_wait_seconds=self.first_wait_seconds,
            longest_wait_seconds=self.longest_wait_seconds,
            deadline_seconds=seconds,
        )


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
        patience, why, attempts = self._patience, _SILENT, 0

        async def bounded(number: int) -> T:
            nonlocal why, attempts
            attempts = number
            seconds = min(patience.attempt_seconds, self._left())
            try:
                async with asyncio.timeout(max(0.0, seconds)):
                    return await attempt()
            except PassingError as error:
                why = str(error)
                raise
            except TimeoutError:
                # An attempt that the deadline cut short says nothing about the server.
                why = _SILENT if seconds == patience.attempt_seconds else why
                raise

        def give_up(_error: Exception, _why: str) -> UnavailableError:
            return UnavailableError(
                what=f"{self._where} cannot be used",
                why=f"{why}; gave up after {counted(attempts, 'attempt')} "
                f"in {patience.deadline_seconds:g} seconds at most",
                fix="check that the server runs and can be reached, or try again later",
                code="overrides_unavailable",
            )

        return await retry(
            bounded,
            policy=patience.policy(self._left()),
            passing=lambda error: isinstance(error, PassingError | TimeoutError),
            clock=self._clock,
            give_up=give_up,
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
        for meeting in count(1):
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
            # Drawn whole, which spreads the writers most.
            rest = _MEETINGS.backoff_seconds(meeting) * random.random()  # noqa: S311
            await self._clock.sleep(rest)

    async def _replaced(
        self,
        replace: Callable[[Found[VersionT] | None, bytes], Awaitable[bool]],
        found: Found[VersionT] | None,
        made: bytes,
    ) -> bool:
        return await self.answer(lambda: replace(found, made))

    def _left(self) -> float:
        return self._deadline - self._clock.monotonic()
