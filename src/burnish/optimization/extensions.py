"""Extensions: code of others that a run calls, plain or async, and its mistakes told as theirs."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from burnish.domain import BurnishError, UnavailableError
from burnish.evaluation.item_runner import describe
from burnish.support.threads import DaemonThreads

_SECONDS = 60.0


class ExtensionFailed(BurnishError):  # noqa: N818 - names what happened to the run
    """Code of somebody else's that a run was given failed: an optimizer, adapter or repository."""

    exit_code = 5
    default_code = "extension_failed"


async def run_either(threads: DaemonThreads, function: Callable[..., Any], *arguments: Any) -> Any:
    """An async function's result, or that of a plain one, which runs off the event loop."""
    if inspect.iscoroutinefunction(function):
        return await function(*arguments)
    answer = await threads.run(function, *arguments)
    return await answer if inspect.isawaitable(answer) else answer


class ExtensionCalls:
    """Calls methods of an adapter or repository of somebody else's.

    What its methods raise as a BurnishError passes; a broken connection or no answer in time is
    UnavailableError, and everything else a mistake of theirs. Plain methods run one at a time.
    """

    def __init__(self, target: object, noun: str) -> None:
        self._target = target
        self._noun = noun
        self._threads = DaemonThreads(1)

    async def call(self, method: str, *arguments: Any, **named: Any) -> Any:
        """The method's answer within its time."""
        return await self.call_within(_SECONDS, method, *arguments, **named)

    async def call_within(self, deadline: float, method: str, *arguments: Any, **named: Any) -> Any:
        """The method's answer within so many seconds."""
        function: Callable[..., Any] | None = getattr(self._target, method, None)
        if function is None:
            raise self.failed(method, "it has no such method")
        try:
            async with asyncio.timeout(deadline):
                return await run_either(self._threads, partial(function, *arguments, **named))
        except BurnishError:
            raise
        except OSError as error:
            why = describe(error) if str(error) else f"no answer within {deadline:g} s"
            raise UnavailableError(
                what=f"the {self._noun} {self.name!r} cannot be reached in {method}",
                why=why,
                fix="look after what it talks to; `burnish resume` then goes on",
                code=f"{self._noun}_unavailable",
            ) from error
        except Exception as error:
            raise self.failed(method, describe(error)) from error

    @property
    def name(self) -> str:
        """Of its class."""
        return type(self._target).__name__

    def failed(self, method: str, why: str) -> ExtensionFailed:
        """A mistake of theirs."""
        return ExtensionFailed(
            what=f"the {self._noun} {self.name!r} failed in {method}",
            why=why,
            fix=f"mend the {self._noun}; resuming the run then goes on from the last step",
            code=f"{self._noun}_failed",
        )

    def close(self) -> None:
        """Let the thread end."""
        self._threads.close()
