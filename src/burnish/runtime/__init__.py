"""Mailboxes and the loops that serve them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from burnish.runtime.mailboxes import (
    MESSAGE_TYPES,
    DeadLetter,
    InMemoryMailbox,
    JsonMessage,
    Mailbox,
    Message,
    MessageTypes,
    message_type,
)

if TYPE_CHECKING:
    from burnish.runtime.loops import (
        Delivery,
        EvalLoop,
        EvalReport,
        EvalRequest,
        EvalResult,
        EvalSummary,
        GroupSettings,
        LoopGroup,
        MailboxLoop,
        MainLoop,
        MainLoopRequest,
        MainLoopResult,
        OptimizationReport,
        OptimizeLoop,
        OptimizeRequest,
        OptimizeResult,
        ask,
        ask_all,
        run_eval,
        samples_of,
    )
    from burnish.runtime.mailboxes import RedisMailbox

__all__ = [
    "MESSAGE_TYPES",
    "DeadLetter",
    "Delivery",
    "EvalLoop",
    "EvalReport",
    "EvalRequest",
    "EvalResult",
    "EvalSummary",
    "GroupSettings",
    "InMemoryMailbox",
    "JsonMessage",
    "LoopGroup",
    "Mailbox",
    "MailboxLoop",
    "MainLoop",
    "MainLoopRequest",
    "MainLoopResult",
    "Message",
    "MessageTypes",
    "OptimizationReport",
    "OptimizeLoop",
    "OptimizeRequest",
    "OptimizeResult",
    "RedisMailbox",
    "ask",
    "ask_all",
    "message_type",
    "run_eval",
    "samples_of",
]


def __getattr__(name: str) -> Any:
    # On first use: redis is an extra, and the loops load what evaluations and optimizers need.
    if name == "RedisMailbox":
        return import_module("burnish.runtime.mailboxes").RedisMailbox
    if name in __all__:
        return getattr(import_module("burnish.runtime.loops"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
