"""Optimization requests in, reports out; the work itself is the orchestrator's."""

from __future__ import annotations

import asyncio
import logging
from typing import Protocol

from burnish.domain import Clock, UnavailableError
from burnish.domain.mailboxes import Mailbox
from burnish.evaluation.item_runner import describe
from burnish.runtime.loops.delivery import Delivery, GivenBack, RetryRules
from burnish.runtime.loops.mailbox_loop import MailboxLoop
from burnish.runtime.loops.optimize_messages import OptimizeRequest, OptimizeResult

_log = logging.getLogger(__name__)
# How long an optimization may take to leave its state and its lease in order.
_LEAVE_SECONDS = 10.0
# A request that takes hours meets many restarts of workers; none of them is its fault.
MAX_OPTIMIZE_DELIVERIES = 50


class RequestOptimizer(Protocol):
    """Runs the optimization that a request stands for, or goes on with it.

    The same request gives the same optimization, whoever ran it before and however far. Cancelling
    it leaves a state that can be gone on with at once. UnavailableError means: try again later.
    """

    async def optimize(self, request: OptimizeRequest) -> OptimizeResult:
        """Run it to its end."""
        ...


class OptimizeLoop(MailboxLoop[OptimizeRequest, OptimizeResult]):
    """Serves optimization requests. One that is stopped in the middle, by a shutdown or by the death
    of its worker, is gone on with by the next worker that takes it.

    Whatever cannot succeed by trying again is answered with an `error`.
    """

    def __init__(
        self,
        *,
        optimizer: RequestOptimizer,
        requests: Mailbox[OptimizeRequest, OptimizeResult],
        concurrency: int = 1,
        max_deliveries: int = MAX_OPTIMIZE_DELIVERIES,
        rules: RetryRules | None = None,
        clock: Clock | None = None,
        name: str = "optimize",
    ) -> None:
        super().__init__(
            name=name,
            requests=requests,
            concurrency=concurrency,
            max_deliveries=max_deliveries,
            rules=rules,
            clock=clock,
        )
        self._optimizer = optimizer

    async def handle(self, request: OptimizeRequest, delivery: Delivery) -> OptimizeResult:
        """Run it; when the worker stops, give it back at once instead of using up the grace."""
        running = asyncio.ensure_future(self._optimizer.optimize(request))
        stopping = asyncio.ensure_future(delivery.stopping.wait())
        try:
            await asyncio.wait({running, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not running.done():
                await _end(running)
                if not running.done() or running.cancelled():
                    raise GivenBack
            return running.result()
        except (UnavailableError, GivenBack):
            raise
        except Exception as error:  # noqa: BLE001 - it would fail the same way on any worker
            _log.warning("optimization %s failed: %s", request.request_id, describe(error))
            return self.failed(request, error)
        finally:
            stopping.cancel()
            if not running.done():
                await _end(running)

    def failed(self, request: OptimizeRequest, error: Exception) -> OptimizeResult:
        """An empty report that says why."""
        return OptimizeResult.failed(request, describe(error))


async def _end(running: asyncio.Future[OptimizeResult]) -> None:
    running.cancel()
    await asyncio.wait({running}, timeout=_LEAVE_SECONDS)
