"""Two experiments are compared over the items that both ran."""

import pytest

from burnish.app.evaluate.result import compare
from burnish.domain import UsageError


class Scores(dict):
    async def item_scores(self, experiment_id):
        return self[experiment_id]


async def test_scores_are_paired_by_id_over_the_shared_items():
    scores = Scores(
        before={"a": 0.0, "b": 1.0, "gone": 0.0}, after={"new": 1.0, "b": 1.0, "a": 1.0}
    )

    result = await compare(scores, "before", "after")

    assert (result.items, result.improved, result.delta) == (2, 1, 0.5)


async def test_experiments_with_no_item_in_common_are_refused():
    with pytest.raises(UsageError, match="no item in common") as raised:
        await compare(Scores(before={"a": 1.0}, after={"b": 1.0}), "before", "after")

    assert raised.value.code == "nothing_in_common"
