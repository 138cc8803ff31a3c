"""Some faults of `python -m bench faults`: nothing is lost, doubled, blamed, and nothing hangs."""

import pytest
from bench.faults.attempts import OUTCOMES
from bench.faults.command import ALL, plan
from bench.faults.reference import Reference


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    reference = Reference(tmp_path_factory.mktemp("faults"))
    yield reference
    reference.close()


# One of each family: `test_optimization_kills` and others try the rest in depth.
@pytest.mark.parametrize(
    ("work", "kind"),
    [
        ("optimization", "SIGSTOP"),
        ("optimization", "disk full"),
        ("evaluation", "database locked"),
        ("optimization", "provider garbage"),
        ("image run", "kill -9"),
    ],
)
def test_a_fault_changes_nothing(work, kind, reference):
    assert (work, kind) in ALL
    [fault] = plan(1, [(work, kind)], seed=7)

    found = reference.try_fault(fault)

    assert {name: getattr(found, name) for name in OUTCOMES} == dict.fromkeys(OUTCOMES, 0), (
        found.note
    )
