"""Python agent: an agent that is a Python function."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from burnish.domain import AgentOutput, Configuration, Item, UsageError
from burnish.evaluation.agents.answers import as_output
from burnish.evaluation.views import ConfigurationView, ItemView
from burnish.models.fingerprints import callable_fingerprint
from burnish.support.threads import DaemonThreads

_MAX_THREADS = 256


class PythonAgent:
    """Calls `(configuration, item)`. A plain function runs in a thread, an async one on the loop."""

    def __init__(
        self,
        *,
        name: str,
        configuration: Configuration,
        run: Callable[..., Any],
        version: str | None = None,
    ) -> None:
        _require_two_arguments(name, run)
        self.name = name
        self.configuration = configuration
        self._function = run
        self._is_async = inspect.iscoroutinefunction(run) or inspect.iscoroutinefunction(
            getattr(run, "__call__", None)  # noqa: B004 - an object may have an async __call__
        )
        self._threads = DaemonThreads(_MAX_THREADS)
        self.fingerprint = callable_fingerprint(run, version)

    async def run(self, configuration: Configuration, item: Item, *, repeat: int) -> AgentOutput:
        """The function's answer as an output."""
        # A fresh view each time: a function that changes it must not reach the next item.
        view = ConfigurationView(configuration)
        if self._is_async:
            answer = await self._function(view, ItemView(item))
        else:
            answer = await self._threads.run(self._function, view, ItemView(item))
            if inspect.isawaitable(answer):
                answer = await answer
        return as_output(answer)

    async def close(self) -> None:
        """Let the threads end."""
        self._threads.close()


def _require_two_arguments(name: str, run: Callable[..., Any]) -> None:
    """Refuse before anything runs what cannot be called with a configuration and an item."""
    try:
        signature = inspect.signature(run)
    except (TypeError, ValueError):
        return  # Written in C: its call will tell.
    try:
        signature.bind(None, None)
    except TypeError as error:
        called = getattr(run, "__name__", type(run).__name__)
        raise UsageError(
            what=f"the agent {name!r} cannot be run",
            why=f"{called}{signature} cannot be called with a configuration and an item: {error}",
            fix=f"write it as {called}(configuration, item), or give another function's prompts "
            "by burnish.from_function",
            code="invalid_agent",
        ) from error
