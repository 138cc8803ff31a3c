"""What a run has to show before its winner is promoted without a person."""

import types

import pytest

from burnish.app.agents.optimizers import scheduler as automatic_promotion
from burnish.app.agents.optimizers.scheduler import AUTHOR, settle_run, why_not
from burnish.domain import AgentVersion, Configuration, ConflictError, OptimizationStatus
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


class Workspace:
    """A run that another server promotes at the same time; `active` is how far that one came."""

    def __init__(self, active):
        self.active = active
        self.settled = []
        self.optimizations = self.agents = self.optimizer_runs = self

    async def get_optimization(self, _):
        return record()

    async def active_version(self, _):
        return self.active

    async def settle(self, run_id, promotion):
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
