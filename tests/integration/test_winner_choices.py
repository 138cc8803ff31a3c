"""Optimizers that choose the winner themselves: a choice that evidence is against is refused."""

import pytest
from optimization_world import Climber, World, result_of, run

import burnish
from burnish.optimization.objective import read_objective
from burnish.optimization.trial_index import History


def answer(configuration, item):
    """The better text on the whole fails what the baseline can do."""
    able = {"base": {0}, "risky": {1, 2, 3, 4, 5}, "safe": {0, 1, 2}}
    return "yes" if item["n"] in able[configuration["sections"]["system"]] else "no"


@pytest.mark.parametrize(("keep", "winner"), [(False, "risky"), (True, "safe")])
async def test_nothing_that_fails_what_the_baseline_passes_wins_where_that_is_asked_for(
    keep, winner, tmp_path
):
    result = await burnish.optimize_async(
        burnish.Agent(run=answer, configuration={"sections": {"system": "base"}}, version="1"),
        burnish.Suite(
            dataset=[{"id": str(n), "n": n % 6, "expected": "yes"} for n in range(24)],
            scorers=["exact_match"],
            split={"validation": 0.5, "test": 0.5},
        ),
        "grid",
        settings={"sections": {"system": ["risky", "safe"]}},
        seed=1,
        keep_passing=keep,
        db=tmp_path / "burnish.db",
    )

    assert result.best.configuration.sections["system"] == winner
    turned_down = result.document["turned_down"]
    assert [one["number"] for one in turned_down] == ([1] if keep else [])
    assert all(int(item) % 6 == 0 for one in turned_down for item in one["broken_items"])


class Choosing(Climber):
    """A climber that names the first trial with the so-manyth score as the winner."""

    def __init__(self, rank):
        self.rank = rank

    def choice(self, state, history):
        trials = [one for one in history.trials if one.counts]
        ranked = sorted({one.objective_score: one.candidate_id for one in reversed(trials)}.items())
        return ranked[self.rank][1] if len(trials) > 6 else None


class Timid(Climber):
    """One that never leaves the baseline."""

    def choice(self, state, history):
        return history.trials[0].candidate_id


def scores(result):
    return {one.candidate_id: one.objective_score for one in result.trials}


async def test_a_choice_that_is_worse_beyond_chance_is_refused_and_told(tmp_path):
    world = World(tmp_path)

    result = await run(world, optimizer=Choosing(0))

    assert result.best.score == max(scores(result).values())
    told = result.overruled
    assert (told["by"], told["score"]) == ("evidence", min(scores(result).values()))
    assert told["items"] == 20 and told["p_value"] < 0.05
    assert (await result_of(world)).overruled == told


async def test_a_choice_that_chance_explains_stands(tmp_path):
    result = await run(World(tmp_path), optimizer=Choosing(-2))

    found = sorted(set(scores(result).values()), reverse=True)
    assert result.best.score == found[1]
    assert (result.overruled["by"], result.overruled["score"]) == ("optimizer", found[0])
    assert result.document["objective"]["chosen"]["candidate_id"] == result.best.candidate_id


async def test_the_baseline_is_no_choice_while_a_candidate_is_better(tmp_path):
    result = await run(World(tmp_path), optimizer=Timid())

    assert result.improved
    assert result.overruled["number"] == 0 and result.overruled["by"] == "evidence"


async def test_items_are_loaded_once_for_each_trial(tmp_path, monkeypatch):
    loaded = []
    original = History.load_item_results

    async def counted(history, candidate_id):
        loaded.append(candidate_id)
        return await original(history, candidate_id)

    monkeypatch.setattr(History, "load_item_results", counted)

    result = await run(World(tmp_path), optimizer=Choosing(-2))

    assert 1 < len(loaded) <= len(result.trials)
    assert len(set(loaded)) == len(loaded)


@pytest.mark.parametrize("objective", [{"tokens": 0.1}, {"pareto": ["tokens"], "tolerance": 0.5}])
async def test_with_an_objective_a_worse_score_may_be_chosen(tmp_path, objective):
    result = await run(World(tmp_path), optimizer=Choosing(0), objective=read_objective(objective))

    assert (result.overruled or {}).get("by") != "evidence"
