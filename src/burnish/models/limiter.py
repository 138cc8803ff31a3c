"""Limiter of model calls: how many an endpoint gets at once and a minute."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from burnish.domain import Clock
from burnish.models.retry import RetryBudget
from burnish.models.settings import ModelSettings

# What a round of successes gives back. A whole slot a round meets the endpoint's limit so often
# again that a run at it spends its attempts on refusals.
_RECOVERY = 0.25


class Pacer:
    """A token bucket without savings: what is taken now delays what comes next.

    So no minute sees more than its rate (but for the size of one request), and an idle spell
    is not followed by a burst that the endpoint would refuse.
    """

    def __init__(self, per_minute: float) -> None:
        self.per_second = per_minute / 60
        self._free_at = 0.0

    def wait_seconds(self, now: float) -> float:
        """How long until the next request may go."""
        return max(0.0, self._free_at - now)

    def take(self, amount: float, now: float) -> None:
        """Charge an amount; a negative one gives back what was charged too much."""
        self._free_at = max(self._free_at, now) + amount / self.per_second


@dataclass(slots=True)
class Permit:
    """Leave to make one request; say how it went."""

    limiter: AdaptiveLimiter
    number: int
    tokens: int

    def succeeded(self, tokens: int) -> None:
        """The endpoint answered, and the request took so many tokens."""
        self.limiter.recover(self.number)
        self.limiter.charge(tokens - self.tokens)

    def throttled(self, pause_seconds: float) -> None:
        """The endpoint asked for less: fewer at once, and nothing new for a while."""
        self.limiter.back_off(self.number, pause_seconds)


class AdaptiveLimiter:
    """Lets requests through in the order they came, no more at once than the endpoint bears.

    The number at once halves when the endpoint says 429, once for all requests that were under
    way then, and grows by about one in four rounds of successes. Every waiter stands in a fair queue,
    and one that is cancelled leaves nothing behind.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        max_concurrency: int = 16,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
    ) -> None:
        self.in_flight = 0
        self._clock = clock
        self._maximum = max_concurrency
        self._limit = float(max_concurrency)
        self._requests = Pacer(requests_per_minute) if requests_per_minute else None
        self._tokens = Pacer(tokens_per_minute) if tokens_per_minute else None
        self._queue = asyncio.Lock()
        self._changed = asyncio.Event()
        self._issued = 0
        self._stale_below = 0
        self._paused_until = 0.0

    @property
    def limit(self) -> int:
        """How many requests may be under way now."""
        return int(self._limit)

    @property
    def counts_tokens(self) -> bool:
        """Whether a slot should be asked for with an estimate of tokens."""
        return self._tokens is not None

    @asynccontextmanager
    async def slot(self, tokens: int = 0) -> AsyncIterator[Permit]:
        """Wait for a turn; the slot is free again at the end of the block."""
        async with self._queue:
            while not self._may_go():
                await self._wait()
            self.in_flight += 1
            self._issued += 1
            permit = Permit(self, self._issued, tokens)
            if self._requests is not None:
                self._requests.take(1, self._clock.monotonic())
            self.charge(tokens)
        try:
            yield permit
        finally:
            self.in_flight -= 1
            self._changed.set()

    def recover(self, permit: int) -> None:
        """A success; it counts when the request was sent after the last halving."""
        if permit > self._stale_below:
            self._limit = min(float(self._maximum), self._limit + _RECOVERY / self._limit)
            self._changed.set()

    def back_off(self, permit: int, pause_seconds: float) -> None:
        """A refusal; those sent before the last halving tell nothing new."""
        until = self._clock.monotonic() + pause_seconds
        self._paused_until = max(self._paused_until, until)
        if permit > self._stale_below:
            self._limit = max(1.0, self._limit / 2)
            self._stale_below = self._issued

    def charge(self, tokens: int) -> None:
        """Count tokens against the minute."""
        if self._tokens is not None:
            self._tokens.take(tokens, self._clock.monotonic())

    def tighten(self, settings: ModelSettings) -> None:
        """Take over the smaller limits of another model at the same endpoint."""
        self._maximum = min(self._maximum, settings.max_concurrency)
        self._limit = min(self._limit, float(self._maximum))
        self._requests = _slower(self._requests, settings.requests_per_minute)
        self._tokens = _slower(self._tokens, settings.tokens_per_minute)

    def _may_go(self) -> bool:
        return self.in_flight < self.limit and self._closed_seconds() <= 0

    def _closed_seconds(self) -> float:
        now = self._clock.monotonic()
        waits = [self._paused_until - now]
        waits += [pacer.wait_seconds(now) for pacer in (self._requests, self._tokens) if pacer]
        return max(waits)

    async def _wait(self) -> None:
        """Only the head of the queue stands here."""
        closed = self._closed_seconds()
        if closed > 0:
            await self._clock.sleep(closed)
        else:
            self._changed.clear()
            await self._changed.wait()


@dataclass(frozen=True, slots=True)
class EndpointLimits:
    """What all models at one endpoint share."""

    limiter: AdaptiveLimiter
    budget: RetryBudget


_shared: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str, str], EndpointLimits]]
_shared = WeakKeyDictionary()


def shared_limits(
    base_url: str, key_env: str, settings: ModelSettings, clock: Clock
) -> EndpointLimits:
    """The limits of an endpoint and key in the running event loop; the tightest settings win."""
    endpoints = _shared.setdefault(asyncio.get_running_loop(), {})
    limits = endpoints.get((base_url, key_env))
    if limits is None:
        limiter = AdaptiveLimiter(
            clock=clock,
            max_concurrency=settings.max_concurrency,
            requests_per_minute=settings.requests_per_minute,
            tokens_per_minute=settings.tokens_per_minute,
        )
        limits = EndpointLimits(limiter, RetryBudget(clock=clock, ratio=settings.retry_budget))
        endpoints[base_url, key_env] = limits
    else:
        limits.limiter.tighten(settings)
    return limits


def _slower(pacer: Pacer | None, per_minute: float | None) -> Pacer | None:
    if per_minute is None:
        return pacer
    if pacer is None:
        return Pacer(per_minute)
    pacer.per_second = min(pacer.per_second, per_minute / 60)
    return pacer
