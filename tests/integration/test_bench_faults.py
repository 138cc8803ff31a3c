"""Some faults of `python -m bench faults`: nothing is lost, doubled, blamed, and nothing hangs."""

import pytest
from bench.fault_runs import KINDS, Reference
from bench.faults import OUTCOMES, plan


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    return Reference(tmp_path_factory.mktemp("faults"))


# One of each family: `test_optimization_kills` and others try the rest in depth.
@pytest.mark.parametrize("kind", ["SIGSTOP", "disk full", "database locked", "provider garbage"])
def test_a_fault_changes_nothing(kind, reference):
    assert kind in KINDS
    [fault] = plan(1, [kind], seed=7)

    found = reference.try_fault(fault)

    assert {name: getattr(found, name) for name in OUTCOMES} == dict.fromkeys(OUTCOMES, 0), (
        found.note
    )
