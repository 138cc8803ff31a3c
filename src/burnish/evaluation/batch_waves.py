"""Batch waves: how many items run at once where requests are gathered into batches, and where not."""

from __future__ import annotations

from burnish.domain import Agent, Model, UsageError
from burnish.evaluation.agents import PythonAgent
from burnish.evaluation.scorers.judges import judges_in
from burnish.evaluation.suite import Suite
from burnish.models.catalog import is_batched

# Nothing is computed while a batch is waited for, so only memory bounds it.
_WAVE = 10_000


def items_at_once(agent: Agent, suite: Suite, concurrency: int) -> int:
    """A whole wave where a model of the agent or of the suite asks in batches, else as it was set.

    Functions keep their number: what they call besides is not known here.
    """
    return max(concurrency, _WAVE) if asks_in_batches(agent, suite) else concurrency


def asks_in_batches(agent: Agent, suite: Suite) -> bool:
    """Whether waves of items become batches."""
    return not isinstance(agent, PythonAgent) and bool(batched_models(agent, suite))


def batched_models(agent: Agent, suite: Suite) -> list[str]:
    """The names of those models of the agent and of the suite that ask in batches."""
    return sorted({one.name for one in _models(agent, suite) if is_batched(one)})


def require_single_calls(agent: Agent, suite: Suite) -> None:
    """Refuse batches for workers: a batch takes hours, and a wave is one only where all of it is."""
    batched = batched_models(agent, suite)
    if batched:
        raise UsageError(
            what="workers cannot ask in batches",
            why=f"{', '.join(batched)} is asked in batches: workers get a wave in small parts, and "
            "one without an answer within minutes counts as lost, while a batch takes up to a day",
            fix="run it without --runner, --mailbox and --ray-address (nothing is computed while a "
            "batch is waited for), or leave batch out",
            code="batches_on_workers",
        )


def _models(agent: Agent, suite: Suite) -> list[Model]:
    judges = [judge.model for judge in judges_in(suite.scorers.scorers)]
    refiner = None if suite.refine is None else suite.refine.model
    return [one for one in (getattr(agent, "model", None), refiner, *judges) if one is not None]
