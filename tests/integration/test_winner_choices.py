"""Optimizers that choose the winner themselves: a choice that evidence is against is refused."""

from collections import Counter

import pytest
from optimization_world import Climber, World, result_of, run

import burnish
from burnish.app.agents.promotion import promote_candidate, review_promotion
from burnish.app.wiring import Workspace
from burnish.optimization.objective import read_objective
from burnish.optimization.trial_index import History


def answer(configuration, item):
    """The better text on the whole fails what the baseline can do."""
    able = {"base": {0}, "risky": {1, 2, 3, 4, 5}, "safe": {0, 1, 2}}
    return "yes" if item["n"] in able[configuration["sections"]["system"]] else "no"


def optimized(run, candidates, folder, **options):
    return burnish.optimize_async(
        burnish.Agent(run=run, configuration={"sections": {"system": "base"}}, version="1"),
        burnish.Suite(
            dataset=[{"id": str(n), "n": n % 6, "expected": "yes"} for n in range(24)],
            scorers=["exact_match"],
            split={"validation": 0.5, "test": 0.5},
        ),
        "grid",
        settings={"sections": {"system": candidates}},
        seed=1,
        db=folder / "burnish.db",
        **options,
    )


@pytest.mark.parametrize(("keep", "winner"), [(False, "risky"), (True, "safe")])
async def test_nothing_that_breaks_what_the_baseline_passes_wins_where_that_is_asked_for(
    keep, winner, tmp_path
):
    result = await optimized(answer, ["risky", "safe"], tmp_path, keep_passing=keep)

    assert result.best.configuration.sections["system"] == winner
    turned_down = result.document["turned_down"]
    assert [one["number"] for one in turned_down] == ([1] if keep else [])
    assert all(int(item) % 6 == 0 for one in turned_down for item in one["broken_items"])
    assert all("0 of 5 now" in one["why"] for one in turned_down)
    assert result.document["kept_passing"] == ({"passed": True, "items": []} if keep else None)
    await check_promotions(tmp_path / "burnish.db", result.optimization_id, keep=keep)


async def check_promotions(db, run, *, keep):
    """The gate holds where the run had it, where it is asked for, and not where it is asked not to."""
    async with Workspace.open(f"sqlite:///{db}") as workspace:
        candidates = await workspace.optimizations.list_candidates(run)
        risky = next(
            one.id for one in candidates if one.configuration.sections["system"] == "risky"
        )
        safe = next(one.id for one in candidates if one.configuration.sections["system"] == "safe")

        for asked in (True, None) if keep else (True,):
            with pytest.raises(burnish.ConflictError, match="breaks what the baseline") as refused:
                await promote_candidate(
                    workspace, run, risky, promoted_by="ada", keep_passing=asked
                )
            assert refused.value.code == "broken_items"
        review = await review_promotion(workspace, run, risky)
        assert any("broken" in one for one in review.promotion.doubts) == keep
        if keep:
            assert (await promote_candidate(workspace, run, safe, promoted_by="ada")).version
        else:
            await promote_candidate(workspace, run, risky, promoted_by="ada")


async def test_an_item_that_fails_once_is_run_again_before_it_turns_a_winner_down(tmp_path):
    runs = Counter()

    def lucky(configuration, item):
        """The first run of what the baseline can do fails."""
        if configuration["sections"]["system"] != "lucky":
            return answer(configuration, item)
        runs[item["id"]] += 1
        return "no" if item["n"] == 0 and runs[item["id"]] == 1 else "yes"

    budget = burnish.Budget(max_evaluations=100)
    result = await optimized(lucky, ["lucky", "safe"], tmp_path, keep_passing=True, budget=budget)

    assert result.best.configuration.sections["system"] == "lucky"
    kept = result.document["kept_passing"]
    assert kept["passed"]
    # Those of the search, and those that were held out.
    assert {int(one["item_id"]) % 6 for one in kept["items"]} == {0}
    assert len(kept["items"]) == 4
    assert {one["standing"] for one in kept["items"]} == {"flaky"}
    assert result.document["test"]["items"] == 12


async def test_a_budget_without_room_to_run_an_item_again_turns_the_winner_down(tmp_path):
    budget = burnish.Budget(max_evaluations=26)
    result = await optimized(answer, ["risky"], tmp_path, keep_passing=True, budget=budget)

    assert not result.improved
    assert "too few runs" in result.document["turned_down"][0]["why"]


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
