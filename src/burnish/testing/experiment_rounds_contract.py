"""What every experiment repository keeps to about the rounds of refined outputs."""

# ruff: noqa: D102 - the names of the tests say what they show

from __future__ import annotations

from dataclasses import replace

import pytest

from burnish.domain import (
    AgentOutput,
    ExperimentRepository,
    Outcome,
    Round,
    RoundEnd,
    Score,
    Spending,
    UsageError,
)
from burnish.testing.experiment_samples import (
    AWKWARD_JSON,
    AWKWARD_TEXTS,
    SCOPE,
    make_experiment,
    make_result,
)
from burnish.testing.round_samples import (
    FIRST,
    REFINED,
    make_refinement,
    make_round,
    make_rounds,
)


class ExperimentRoundsContract:
    """Provide `experiments`."""

    async def test_rounds_come_back_as_they_were_saved_and_in_order(
        self, experiments: ExperimentRepository
    ) -> None:
        await experiments.create_experiment(make_experiment())
        given = [
            make_round("i1", 2, 0.7, ended=RoundEnd.LIMIT, ended_why="that was the last"),
            make_round("i1", 0, 0.4, cached=True, spending=Spending(), reused=FIRST),
            make_round("i1", 1, 0.6),
            make_round("i2", 0, 1.0, repeat=1, ended=RoundEnd.PERFECT),
        ]

        await experiments.save_results("e1", [], rounds=given)
        found = await experiments.get_rounds("e1", item_ids=["i1", "i2", "none"])

        assert {key: [_bare(one) for one in rounds] for key, rounds in found.items()} == {
            ("i1", 0): [given[1], given[2], given[0]],
            ("i2", 1): [given[3]],
        }
        assert all(one.created_at for rounds in found.values() for one in rounds)

    async def test_awkward_rounds_come_back_unchanged(
        self, experiments: ExperimentRepository
    ) -> None:
        await experiments.create_experiment(make_experiment())
        given = [
            make_round(
                f"i {text[:50]}",
                number,
                output=AgentOutput(text=text, data=AWKWARD_JSON),
                scores=(Score(0.1, text, False, text[:50]),),
                model=text[:50],
                ended_why=text[:50],
            )
            for number, text in enumerate(AWKWARD_TEXTS)
        ]

        await experiments.save_results("e1", [], rounds=given)
        items = [one.item_id for one in given]
        found = await experiments.get_rounds("e1", item_ids=items)

        assert [_bare(found[one.item_id, 0][0]) for one in given] == given

    async def test_a_round_that_is_saved_again_replaces_itself(
        self, experiments: ExperimentRepository
    ) -> None:
        await experiments.create_experiment(make_experiment())
        await experiments.save_results("e1", [], rounds=[make_round(), make_round(number=1)])

        changed = make_round(number=1, ended=RoundEnd.OPTIMIZER_UNAVAILABLE, ended_why="away")
        await experiments.save_results("e1", [], rounds=[changed])

        found = await experiments.get_rounds("e1", item_ids=["i1"])
        assert [_bare(one) for one in found["i1", 0]] == [make_round(), changed]

    async def test_a_new_first_round_forgets_later_ones_of_an_earlier_attempt(
        self, experiments: ExperimentRepository
    ) -> None:
        await experiments.create_experiment(make_experiment())
        old = make_rounds("i1", 0.1, 0.2, 0.3, ended=RoundEnd.LIMIT)
        other = make_rounds("i2", 0.1, 0.2, ended=RoundEnd.LIMIT)
        await experiments.save_results("e1", [], rounds=[*old, *other])

        anew = [make_round("i1", 0, 0.5), make_round("i1", 1, 0.6)]
        await experiments.save_results("e1", [], rounds=anew)

        found = await experiments.get_rounds("e1", item_ids=["i1", "i2"])
        assert [_bare(one) for one in found["i1", 0]] == anew
        assert [one.number for one in found["i2", 0]] == [0, 1]

    async def test_open_rounds_are_those_of_runs_without_a_result(
        self, experiments: ExperimentRepository
    ) -> None:
        await experiments.create_experiment(make_experiment())
        await experiments.create_experiment(make_experiment("e2"))
        done = make_rounds("done", 0.4, 1.0, ended=RoundEnd.PERFECT)
        begun = [make_round("begun", 0), make_round("begun", 1), make_round("done", 0, repeat=1)]

        await experiments.save_results("e1", [make_result("done")], rounds=[*done, *begun])
        await experiments.save_results("e2", [], rounds=[make_round("elsewhere")])
        found = await experiments.open_rounds("e1")

        assert set(found) == {("begun", 0), ("done", 1)}
        assert [one.number for one in found["begun", 0]] == [0, 1]

    async def test_a_result_keeps_what_its_rounds_came_to(
        self, experiments: ExperimentRepository
    ) -> None:
        await experiments.create_experiment(make_experiment())
        refined = make_result("refined", refinement=make_refinement())
        bare = make_result("bare")

        await experiments.save_results("e1", [refined, bare])
        found = {one.item_id: one for one in await experiments.get_results("e1")}

        assert found["refined"] == refined
        kept = found["refined"].refinement
        assert kept is not None
        assert kept.outcome is Outcome.FIXED
        assert found["bare"].refinement is None

    async def test_scores_of_many_rounds_are_streamed_in_order(
        self, experiments: ExperimentRepository
    ) -> None:
        await experiments.create_experiment(make_experiment())
        given = [
            one
            for number in range(1100)
            for one in make_rounds(f"i{number:04}", 0.4, 1.0, ended=RoundEnd.PERFECT)
        ]

        for start in range(0, len(given), 550):
            await experiments.save_results("e1", [], rounds=given[start : start + 550])
        found = [one async for one in experiments.stream_round_scores("e1")]

        assert [(one.item_id, one.number) for one in found] == [
            (one.item_id, one.number) for one in given
        ]
        assert found[1].score == 1.0
        assert found[1].judged
        assert found[1].ended is RoundEnd.PERFECT
        assert found[1].spending == REFINED

    async def test_what_the_agent_wrote_can_be_used_again_and_what_was_refined_cannot(
        self, experiments: ExperimentRepository
    ) -> None:
        await experiments.create_experiment(make_experiment())
        rounds = make_rounds("i1", 0.4, 1.0, ended=RoundEnd.PERFECT)
        refined = make_result("i1", refinement=make_refinement())

        await experiments.save_results(
            "e1", [refined], rounds=rounds, cache=SCOPE, scorers_fingerprint="s1"
        )
        found = await experiments.cached_results(SCOPE, [(refined.item_hash, 0)])

        result, scorers = found[refined.item_hash, 0]
        assert result.output is not None
        assert (result.output.text, result.score, scorers) == ("output 0", 0.4, "s1")
        assert result.refinement is None
        assert result.footprint == FIRST
        assert await experiments.has_results(SCOPE)

    async def test_a_first_round_without_a_verdict_is_not_used_again(
        self, experiments: ExperimentRepository
    ) -> None:
        await experiments.create_experiment(make_experiment())
        failed = make_round(
            scores=(Score(0.0, name="judge", error="away"),), ended=RoundEnd.JUDGE_UNAVAILABLE
        )

        await experiments.save_results("e1", [], rounds=[failed], cache=SCOPE)

        assert not await experiments.cached_results(SCOPE, [(failed.item_hash, 0)])
        assert not await experiments.has_results(SCOPE)

    async def test_rounds_of_an_unknown_experiment_are_refused(
        self, experiments: ExperimentRepository
    ) -> None:
        with pytest.raises(UsageError) as error:
            await experiments.save_results("none", [], rounds=[make_round()])

        assert error.value.code == "not_found"
        assert not await experiments.open_rounds("none")


def _bare(one: Round) -> Round:
    return replace(one, created_at="")
