"""What a run has to show before its winner is promoted without a person."""

import types

import pytest

from burnish.app.agents.optimizers import scheduler as automatic_promotion
from burnish.app.agents.optimizers.scheduler import AUTHOR, settle_run, why_not
from burnish.domain import AgentVersion, Configuration, ConflictError, OptimizationStatus
from burnish.evaluation.looks import level_of
from burnish.testing.samples.optimizations import make_record

PROVEN = {"delta": 0.3, "ci_low": 0.1, "ci_high": 0.5, "p_value": 0.01, "held_out": True}


def record(status=OptimizationStatus.COMPLETED, *, improved=True, improvement=PROVEN):
    return make_record(status=status, result={"improved": improved, "improvement": improvement})


def test_a_gain_that_held_out_items_prove_passes():
    assert why_not(record()) is None


@pytest.mark.parametrize(
    ("weak", "reason"),
    [
        (record(improvement={**PROVEN, "held_out": False}), "held-out"),
        (record(improvement={**PROVEN, "p_value": 0.05}), "chance"),
        (record(improvement={**PROVEN, "ci_low": 0.0}), "chance"),
        (record(improvement=None), "held-out"),
        (record(improved=False), "nothing beat"),
        (record(OptimizationStatus.FAILED), "failed"),
        (record(OptimizationStatus.CANCELLED), "cancelled"),
        (make_record(status=OptimizationStatus.COMPLETED), "nothing beat"),
    ],
)
def test_anything_less_does_not(weak, reason):
    assert reason in why_not(weak)


def test_all_looks_together_pass_chance_as_often_as_one_would():
    levels = [level_of(look) for look in range(1, 1_001)]

    assert 0.049 < sum(levels) < 0.05
    assert levels == sorted(levels, reverse=True)


def test_a_gain_that_was_enough_at_first_is_not_at_the_next_look():
    assert why_not(record(), look=1) is None
    assert "p has to be below 0.0083 at look 2 at these items" in why_not(record(), look=2)


class Workspace:
    """A run that another server promotes at the same time; `active` is how far that one came."""

    def __init__(self, active):
        self.active = active
        self.settled = []
        self.before = []
        self.optimizations = self.agents = self.optimizer_runs = self

    async def get_optimization(self, _):
        return record()

    async def active_version(self, _):
        return self.active

    async def decided(self, _):
        return [types.SimpleNamespace(promotion=one) for one in self.before]

    async def settle(self, run_id, promotion):
        self.promotion = promotion
        self.settled.append((run_id, promotion["promoted"]))


def version(author, **origin):
    return AgentVersion(
        agent_name="a",
        version=1,
        configuration=Configuration.of({"sections": {"s": "x"}}),
        author=author,
        active=True,
        origin={"optimization_id": "r", **origin},
    )


RUN = types.SimpleNamespace(id="r", agent_name="a", optimizer_name="nightly")


@pytest.fixture
def _moved(monkeypatch):
    async def promote_candidate(*_, **__):
        raise ConflictError(what="it", why="has moved", fix="look", code="version_moved")

    monkeypatch.setattr(automatic_promotion, "promote_candidate", promote_candidate)


@pytest.mark.usefixtures("_moved")
async def test_what_another_server_is_promoting_is_not_called_refused():
    workspace = Workspace(version("", source="baseline"))

    with pytest.raises(ConflictError):
        await settle_run(workspace, RUN)
    assert workspace.settled == []

    workspace.active = version(AUTHOR, source="auto_promote")
    await settle_run(workspace, RUN)
    assert workspace.settled == [("r", True)]


@pytest.mark.usefixtures("_moved")
async def test_what_a_person_promoted_meanwhile_stays():
    workspace = Workspace(version("ada"))

    await settle_run(workspace, RUN)

    assert workspace.settled == [("r", False)]


async def test_runs_that_compared_on_the_same_items_before_count_as_looks():
    """One of an earlier version does not say, and counts; one that compared nothing does not."""
    workspace = Workspace(None)
    workspace.before = [{"look": 1}, {"promoted": False}, {"look": None}]

    await settle_run(workspace, RUN)

    assert workspace.settled == [("r", False)]
    assert workspace.promotion["look"] == 3
    assert workspace.promotion["level"] == level_of(3)
    assert "look 3" in workspace.promotion["reason"]
