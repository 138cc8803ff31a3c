"""Items that fail are run again: broken ones hold a gate up, flaky ones are named."""

import asyncio
from collections import Counter

import pytest

import burnish
from burnish.app.evaluate.baselines import outcomes_of, read_exported
from burnish.app.wiring import Workspace
from burnish.evaluation.broken_items import Standing

ROWS = [{"id": name, "text": name} for name in ("sound", "flaky", "broken", "hard")]
SUITE = burnish.Suite(dataset=ROWS, scorers=[lambda output, item: output.text == "yes"])


class Lucky:
    """An agent whose items fail by the number of the run; nothing of it is cached."""

    def __init__(self, **failing):
        self._failing = failing
        self.runs = Counter()

    def answer(self, configuration, item):
        self.runs[item["id"]] += 1
        return (
            "no"
            if self._failing.get(item["id"], lambda run: False)(self.runs[item["id"]])
            else "yes"
        )

    @property
    def agent(self):
        return burnish.Agent(run=self.answer, configuration={"sections": {"system": "x"}})


def always(run):
    return True


def first(run):
    return run == 1


@pytest.fixture
def db(tmp_path):
    return str(tmp_path / "burnish.db")


@pytest.fixture
def before(db):
    return burnish.evaluate(Lucky(hard=always).agent, SUITE, db=db).experiment_id


def gate(lucky, before, db, **options):
    return burnish.assert_no_regression(
        before, agent=lucky.agent, suite=SUITE, db=db, keep_passing=True, **options
    )


def test_what_fails_again_and_again_is_broken_and_the_rest_is_named(before, db):
    lucky = Lucky(hard=always, broken=always, flaky=first)

    with pytest.raises(AssertionError) as raised:
        gate(lucky, before, db)

    told = str(raised.value)
    assert (
        "broken (1 of 1 before, 0 of 5 now)" in told and "flaky (1 of 1 before, 1 of 2 now)" in told
    )
    assert "sound" not in told and "hard" not in told
    # Two runs of the flaky one are enough: it can no longer be broken.
    assert lucky.runs == {"sound": 1, "flaky": 2, "broken": 5, "hard": 1}


def test_a_flaky_item_fails_no_gate_and_is_known_as_flaky_afterwards(before, db):
    result = gate(Lucky(hard=always, flaky=first), before, db)

    assert [(one.item_id, one.standing) for one in result.broken.changes] == [
        ("flaky", Standing.FLAKY)
    ]
    assert result.score == 0.5  # Runs again count in no score.
    again = gate(Lucky(hard=always, flaky=always), result.experiment_id, db, reruns=0)
    assert again.broken.changes[0].before == (1, 2)


def test_without_reruns_nothing_is_said_to_be_flaky(before, db):
    lucky = Lucky(hard=always, broken=first)

    with pytest.raises(AssertionError, match="too few runs"):
        gate(lucky, before, db, reruns=0)

    assert lucky.runs["broken"] == 1


async def test_reruns_are_an_experiment_that_is_never_the_latest(before, db):
    lucky = Lucky(hard=always, flaky=first)
    result = await burnish.evaluate_async(lucky.agent, SUITE, db=db)
    found = await asyncio.to_thread(gate, Lucky(hard=always, flaky=first), before, db)
    async with Workspace.open(db) as workspace:
        listed = await workspace.experiments.list_experiments(standalone=True)
        every = await workspace.experiments.list_experiments()
        passes = (await outcomes_of(workspace.experiments, found.experiment_id)).passes

    assert [one.id for one in listed] == [found.experiment_id, result.experiment_id, before]
    assert [one.name for one in every if one.id not in {each.id for each in listed}] == [
        f"{found.experiment.name}, failing items again"
    ]
    assert passes["flaky"] == (1, 2)


def test_an_exported_baseline_knows_what_is_flaky(tmp_path):
    path = tmp_path / "before.json"
    path.write_text(
        '{"experiment": {"id": "e", "metadata": {"run_again": {"passes": {"a": [1, 3]}}}}, "results": '
        '[{"item_id": "a", "score": 0.0, "passed": false, "error": null}]}'
    )

    assert read_exported(path).passes == {"a": (1, 4)}
