"""Run tally: a cost that nobody knows stays unknown, in the totals and in the metrics."""

import pytest

from burnish.app.run_tally import RunTally
from burnish.domain import Purpose, Spending, Usage
from burnish.server.http.metrics import _TallyCollector


class Gate:
    """An optimizer that asked something."""

    def __init__(self, usage):
        self.own = Spending.on(Purpose.PROPOSE, usage)


@pytest.mark.parametrize(("before", "after", "cost"), [(1.0, 3.0, 2.0), (1.0, None, None)])
def test_an_unknown_cost_of_the_optimizer_is_no_zero(before, after, cost):
    tally = RunTally()
    earlier = Spending.on(Purpose.PROPOSE, Usage(calls=1, cost_usd=before))
    tally.watch(Gate(Usage(calls=2, cost_usd=after)), earlier.to_json()["by_purpose"])

    assert tally.totals().by_purpose["propose"].cost_usd == cost


def test_a_metric_without_a_known_cost_has_no_sample():
    tally = RunTally()
    tally.watch(Gate(Usage(calls=2, cost_usd=None)), {})
    families = {family.name: family for family in _TallyCollector(tally).collect()}

    assert families["burnish_calls"].samples[0].value == 2
    assert families["burnish_cost_usd"].samples == []
    assert families["burnish_cached_share"].samples == []


def test_the_share_of_cached_tokens_is_a_metric_by_purpose():
    tally = RunTally()
    tally.watch(Gate(Usage(calls=2, input_tokens=400, cached_tokens=300)), {})
    families = {family.name: family for family in _TallyCollector(tally).collect()}

    [cached], [share] = (
        families[name].samples for name in ("burnish_cached_tokens", "burnish_cached_share")
    )
    assert (cached.labels, cached.value) == ({"purpose": "propose"}, 300)
    assert share.value == 0.75
