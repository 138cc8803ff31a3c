"""Python callables that take their prompts from a dict, as agents."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from burnish.config.specs import AgentSpec
from burnish.domain import Json, UsageError
from burnish.evaluation.views import ConfigurationView, ItemView

_OWN = ("prompts", "item", "parameters", "examples")
_FORMS = "fn(prompts, item), fn(item, prompts=…), or fn(item, *, NAME=…) with the prompts' names"


@dataclass(frozen=True)
class _Call:
    """How a function wants its arguments: the names of those it has, and which is the item."""

    named: tuple[str, ...]
    item: str | None

    def arguments(self, configuration: ConfigurationView, item: ItemView) -> dict[str, Any]:
        sections = configuration.sections
        own = {
            "prompts": dict(sections),
            "parameters": configuration.parameters,
            "examples": configuration.examples,
        }
        given = {name: own[name] if name in own else sections[name] for name in self.named}
        return given if self.item is None else {**given, self.item: item}


def from_function(
    function: Callable[..., Any],
    prompts: Mapping[str, str],
    *,
    name: str | None = None,
    parameters: Mapping[str, Json] | None = None,
    examples: Sequence[Mapping[str, Json]] = (),
    version: str | None = None,
) -> AgentSpec:
    """An agent of a function, plain or async, whose prompts are in a dict.

    It is called as `fn(prompts, item)`, `fn(item, prompts=…)`, or with each prompt as the argument
    of its name; `parameters` and `examples` are handed over too where it has arguments called so.
    What it gets is its own copy. `version` names its code for the result cache where it changes
    outside of the function's module.
    """
    if not callable(function):
        raise _unusable(function, f"it is a {type(function).__name__}", "give a function")
    if not isinstance(prompts, Mapping) or not prompts:
        raise _unusable(function, "`prompts` is not a dict with a text at least", "name its texts")
    call = _call_of(function, prompts)
    return AgentSpec(
        name=name or getattr(function, "__name__", "agent").strip("<>"),
        configuration={
            "sections": dict(prompts),
            "parameters": dict(parameters or {}),
            "examples": list(examples),
        },
        run=_runner(function, call),
        version=version,
    )


def _runner(function: Callable[..., Any], call: _Call) -> Callable[..., Any]:
    """A closure, so that the function's own code counts in the agent's fingerprint."""
    named, item_name = call.named, call.item

    async def run_async(configuration: ConfigurationView, item: ItemView) -> Any:
        return await function(**_Call(named, item_name).arguments(configuration, item))

    def run(configuration: ConfigurationView, item: ItemView) -> Any:
        return function(**_Call(named, item_name).arguments(configuration, item))

    is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - an object may have an async __call__
    )
    return run_async if is_async else run


def _call_of(function: Callable[..., Any], prompts: Mapping[str, str]) -> _Call:
    try:
        arguments = inspect.signature(function).parameters
    except (TypeError, ValueError) as error:
        raise _unusable(function, "its arguments cannot be seen", f"wrap it: {_FORMS}") from error
    ours = [name for name in arguments if name in prompts or name in _OWN[:1] + _OWN[2:]]
    others = [
        name
        for name, one in arguments.items()
        if name not in ours and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    ]
    needed = [name for name in others if arguments[name].default is inspect.Parameter.empty]
    item = "item" if "item" in others else next(iter(needed or others), None)
    for name in (*ours, *([item] if item else [])):
        if arguments[name].kind is inspect.Parameter.POSITIONAL_ONLY:
            raise _unusable(function, f"its argument {name!r} has no name to call it by", _FORMS)
    if not any(name in prompts or name == "prompts" for name in ours):
        raise _unusable(function, "it takes no prompt", f"write it as {_FORMS}")
    left = [name for name in needed if name != item]
    if left:
        why = f"it is not clear what its argument {left[0]!r} is"
        raise _unusable(function, why, f"write it as {_FORMS}")
    return _Call(tuple(ours), item)


def _unusable(function: Any, why: str, fix: str) -> UsageError:
    shown = getattr(function, "__name__", repr(function)[:80])
    return UsageError(
        what=f"{shown} cannot be made an agent", why=why, fix=fix, code="invalid_agent"
    )
