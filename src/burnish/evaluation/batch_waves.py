"""Batch waves: how many items run at once where their requests are to be gathered into batches."""

from __future__ import annotations

from burnish.domain import Agent, Model
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
    return not isinstance(agent, PythonAgent) and any(map(is_batched, _models(agent, suite)))


def _models(agent: Agent, suite: Suite) -> list[Model]:
    judges = [judge.model for judge in judges_in(suite.scorers.scorers)]
    refiner = None if suite.refine is None else suite.refine.model
    return [one for one in (getattr(agent, "model", None), refiner, *judges) if one is not None]
