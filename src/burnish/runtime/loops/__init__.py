"""Loops that serve mailboxes, and the group that runs them as one worker."""

from burnish.runtime.loops.asking import ask, ask_all, run_eval
from burnish.runtime.loops.delivery import Delivery, GivenBack, RetryRules
from burnish.runtime.loops.eval_loop import EvalLoop
from burnish.runtime.loops.eval_messages import (
    EVAL_REQUESTS,
    EvalReport,
    EvalRequest,
    EvalResult,
    EvalSummary,
    samples_of,
)
from burnish.runtime.loops.loop_group import GroupSettings, LoopGroup
from burnish.runtime.loops.mailbox_loop import MailboxLoop
from burnish.runtime.loops.main_loop import MainLoop
from burnish.runtime.loops.main_messages import MAIN_REQUESTS, MainLoopRequest, MainLoopResult
from burnish.runtime.loops.optimize_loop import (
    MAX_OPTIMIZE_DELIVERIES,
    OptimizeLoop,
    RequestOptimizer,
)
from burnish.runtime.loops.optimize_messages import (
    OPTIMIZE_REQUESTS,
    OptimizationReport,
    OptimizeRequest,
    OptimizeResult,
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
