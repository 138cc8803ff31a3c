"""What a run has to show before its winner is promoted without a person."""

import pytest

from burnish.bootstrap.automatic_promotion import why_not
from burnish.domain import OptimizationStatus
from burnish.testing.optimization_samples import make_record

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
