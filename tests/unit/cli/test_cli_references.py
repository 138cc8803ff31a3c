"""Experiments are found by id, by its beginning or end, or as the latest."""

from __future__ import annotations

import pytest

from burnish.cli import references
from burnish.cli.references import resolve
from burnish.domain import (
    Configuration,
    Experiment,
    ExperimentStatus,
    ExperimentType,
    UsageError,
)

IDS = ["0199-aaaa-1111", "0199-bbbb-2222", "0188-cccc-1111"]


def experiment(identifier):
    return Experiment(
        id=identifier,
        name="x",
        type=ExperimentType.REGULAR,
        status=ExperimentStatus.COMPLETED,
        agent_name="a",
        configuration=Configuration.of({}),
        suite_name="s",
        dataset_id=None,
        planned_items=None,
    )


class Experiments:
    """Newest first, in pages, as the repository gives them."""

    def __init__(self, ids):
        self.ids = ids

    async def list_experiments(self, *, limit, before=None):
        start = self.ids.index(before) + 1 if before else 0
        return [experiment(one) for one in self.ids[start : start + limit]]


@pytest.fixture(autouse=True)
def small_pages(monkeypatch):
    monkeypatch.setattr(references, "_PAGE", 2)


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        ("latest", IDS[0]),
        (IDS[1], IDS[1]),
        ("0188", IDS[2]),
        ("2222", IDS[1]),
        ("BBBB-2222", IDS[1]),
    ],
)
async def test_each_form_finds_the_one_that_is_meant(reference, found):
    assert (await resolve(Experiments(IDS), reference)).id == found


async def test_an_unknown_one_points_to_the_list():
    with pytest.raises(UsageError) as caught:
        await resolve(Experiments(IDS), "7777")

    assert "burnish list" in caught.value.fix
    assert caught.value.exit_code == 2


async def test_an_ambiguous_one_names_the_candidates():
    with pytest.raises(UsageError) as caught:
        await resolve(Experiments(IDS), "1111")

    assert IDS[0] in caught.value.why
    assert IDS[2] in caught.value.why


@pytest.mark.parametrize("reference", ["latest", "x", " "])
async def test_without_experiments_every_reference_is_refused(reference):
    with pytest.raises(UsageError):
        await resolve(Experiments([]), reference)
