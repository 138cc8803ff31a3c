"""Requests to loops: sent to their mailboxes, and their answers waited for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeVar
from uuid import UUID, uuid4

from burnish.domain import BurnishError, ErrorKind, ExperimentContext, Item, UnavailableError
from burnish.domain.mailboxes import Mailbox, Message
from burnish.domain.wording import counted
from burnish.runtime.loops.eval_loop import EvalReport, EvalRequest, EvalResult
from burnish.runtime.loops.main_loop import MainLoopRequest, MainLoopResult
from burnish.runtime.loops.optimize_loop import OptimizeRequest, OptimizeResult

RequestT = TypeVar("RequestT", MainLoopRequest, EvalRequest, OptimizeRequest)
Result = MainLoopResult | EvalResult | OptimizeResult

_BATCH = 100
_WAIT_SECONDS = 20.0
_REST_SECONDS = 0.5


class NotAnsweredError(UnavailableError):
    """Time was over before all requests were answered; `answers` has what came, by request id."""

    default_code = "no_answer"
    answers: dict[UUID, Any]


async def ask(
    requests: Mailbox[RequestT, Any], request: RequestT, *, timeout: float = 600.0
) -> Any:
    """The answer to one request: a MainLoopResult, an EvalResult or an OptimizeResult."""
    (answer,) = await ask_all(requests, [request], timeout=timeout)
    return answer


async def ask_all(
    requests: Mailbox[RequestT, Any], all_of: Sequence[RequestT], *, timeout: float = 600.0
) -> list[Any]:
    """The answers to many requests, in the order of the requests.

    The requests travel at once, and workers share them. A request that was answered twice, because
    a worker died late, counts once. Raises NotAnsweredError when time is over; it has what came.
    """
    deadline = time.monotonic() + timeout
    replies = requests.sibling(f"replies-{uuid4()}")
    wanted = {request.request_id for request in all_of}
    found: dict[UUID, Result] = {}
    try:
        for batch in _batches(all_of):
            await asyncio.gather(*(requests.send(one, reply_to=replies) for one in batch))
        while len(found) < len(wanted):
            left = deadline - time.monotonic()
            if left <= 0:
                raise _too_late(requests.name, found, len(wanted), timeout)
            for message in await _received(replies, min(left, _WAIT_SECONDS)):
                if message.body.request_id in wanted:
                    found.setdefault(message.body.request_id, message.body)
                with suppress(BurnishError):  # It comes again, and is known then.
                    await message.acknowledge()
    finally:
        with suppress(BurnishError):
            await replies.purge()
        await replies.close()
    return [found[request.request_id] for request in all_of]


async def run_eval(
    eval_requests: Mailbox[Any, Any],
    samples: Iterable[Item],
    experiment: ExperimentContext | None = None,
    *,
    repeat: int = 0,
    timeout: float = 600.0,
) -> EvalReport:
    """All samples evaluated by whatever workers serve the mailbox.

    Samples that are not answered in time are failed results, unless none is.
    """
    requests = [
        EvalRequest(sample=sample, experiment=experiment, repeat=repeat) for sample in samples
    ]
    try:
        return EvalReport(tuple(await ask_all(eval_requests, requests, timeout=timeout)))
    except NotAnsweredError as error:
        if not error.answers:
            raise
        why, kind = f"no answer: {error.why}", ErrorKind.INFRASTRUCTURE
        return EvalReport(
            tuple(
                error.answers.get(one.request_id) or EvalResult.failed(one, why, kind)
                for one in requests
            )
        )


async def _received(replies: Mailbox[Any, Any], seconds: float) -> Sequence[Message[Any, Any]]:
    """What came; nothing while the server is away."""
    try:
        return await replies.receive(max_messages=_BATCH, wait_time_seconds=seconds)
    except UnavailableError:
        await asyncio.sleep(min(seconds, _REST_SECONDS))
        return ()


def _batches(requests: Sequence[RequestT]) -> Iterator[Sequence[RequestT]]:
    for start in range(0, len(requests), _BATCH):
        yield requests[start : start + _BATCH]


def _too_late(
    mailbox: str, found: dict[UUID, Result], wanted: int, timeout: float
) -> NotAnsweredError:
    error = NotAnsweredError(
        what=f"{wanted - len(found)} of {counted(wanted, 'request')} to {mailbox} were not answered",
        why=f"{timeout:g} seconds are over",
        fix="start workers that serve this mailbox (`burnish worker`), or allow more time; "
        f"what could not be handled is in {mailbox}.dead",
    )
    error.answers = dict(found)
    return error
