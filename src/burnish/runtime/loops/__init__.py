"""Loops that serve mailboxes, and the group that runs them as one worker."""

from burnish.runtime.loops.asking import ask, ask_all, run_eval
from burnish.runtime.loops.eval_loop import (
    EVAL_REQUESTS,
    EvalLoop,
    EvalReport,
    EvalRequest,
    EvalResult,
    EvalSummary,
    samples_of,
)
from burnish.runtime.loops.loop_group import GroupSettings, LoopGroup
from burnish.runtime.loops.mailbox_loop import MailboxLoop
from burnish.runtime.loops.main_loop import MAIN_REQUESTS, MainLoop, MainLoopRequest, MainLoopResult
from burnish.runtime.loops.message_handler import Delivery, GivenBack, RetryRules
from burnish.runtime.loops.optimize_loop import (
    MAX_OPTIMIZE_DELIVERIES,
    OPTIMIZE_REQUESTS,
    OptimizationReport,
    OptimizeLoop,
    OptimizeRequest,
    OptimizeResult,
    RequestOptimizer,
)
from burnish.runtime.loops.worker_loop import LoopState, WorkerLoop

__all__ = [
    "EVAL_REQUESTS",
    "MAIN_REQUESTS",
    "MAX_OPTIMIZE_DELIVERIES",
    "OPTIMIZE_REQUESTS",
    "Delivery",
    "EvalLoop",
    "EvalReport",
    "EvalRequest",
    "EvalResult",
    "EvalSummary",
    "GivenBack",
    "GroupSettings",
    "LoopGroup",
    "LoopState",
    "MailboxLoop",
    "MainLoop",
    "MainLoopRequest",
    "MainLoopResult",
    "OptimizationReport",
    "OptimizeLoop",
    "OptimizeRequest",
    "OptimizeResult",
    "RequestOptimizer",
    "RetryRules",
    "WorkerLoop",
    "ask",
    "ask_all",
    "run_eval",
    "samples_of",
]
