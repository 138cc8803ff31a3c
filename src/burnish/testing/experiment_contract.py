"""Contract for experiment repositories. Provide the fixtures `experiments` and `datasets`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from burnish.domain import (
    AgentOutput,
    Configuration,
    ConflictError,
    DatasetRepository,
    ExperimentRepository,
    ExperimentStatus,
    ExperimentType,
    Outcome,
    Round,
    RoundEnd,
    Score,
    Spending,
    UsageError,
)
from burnish.testing.experiment_results_contract import (
    ExperimentResultsContract,
    ExperimentSummariesContract,
)
from burnish.testing.samples.experiments import (
    AWKWARD_JSON,
    AWKWARD_TEXTS,
    FIRST,
    REFINED,
    SCOPE,
    make_experiment,
    make_refinement,
    make_result,
    make_round,
    make_rounds,
)


class ExperimentRecordsContract:
    """Provide `experiments`, and `datasets` on the same store."""

    async def test_every_field_of_an_experiment_comes_back(
        self, experiments: ExperimentRepository, datasets: DatasetRepository
    ) -> None:
        dataset = await datasets.ensure_dataset("d", "f", [])
        given = make_experiment(
            name=AWKWARD_TEXTS[2],
            type=ExperimentType.MINI_BATCH,
            status=ExperimentStatus.PENDING,
            agent_name=AWKWARD_TEXTS[6],
            configuration=Configuration.of(
                {
                    "sections": {"system": "漢字 \x00 {{ticket}}", "user.extra": "2"},
                    "parameters": {"temperature": 0.0, "seed": 2**60},
                    "examples": [{"ticket": "t", "label": None}],
                }
            ),
            suite_name=AWKWARD_TEXTS[8],
            dataset_id=dataset.id,
            planned_items=12,
            optimization_id="o\x00",
            metadata=AWKWARD_JSON,
            created_at="2026-01-31T12:00:00.000001Z",
            updated_at="2026-01-31T12:00:00.000002Z",
        )

        await experiments.create_experiment(given)

        stored = await experiments.get_experiment(given.id)
        assert stored == given
        assert stored.configuration.hash == given.configuration.hash

    async def test_a_new_experiment_is_dated_in_utc(
        self, experiments: ExperimentRepository
    ) -> None:
        await experiments.create_experiment(make_experiment("now"))
        await experiments.create_experiment(
            make_experiment("given", created_at="2026-01-31T13:00:00+01:00")
        )

        assert (await experiments.get_experiment("now")).created_at.endswith("Z")
        given = await experiments.get_experiment("given")
        assert given.created_at == "2026-01-31T12:00:00.000000Z"

    async def test_an_id_is_taken_once(self, experiments: ExperimentRepository) -> None:
        moment = "2026-01-31T12:00:00Z"
        first = make_experiment(name="first", created_at=moment, updated_at=moment)
        await experiments.create_experiment(first)

        for rival in (make_experiment(name="second"), first):
            with pytest.raises(ConflictError, match="taken"):
                await experiments.create_experiment(rival)

        assert (await experiments.get_experiment("e1")).name == "first"

    async def test_of_those_who_want_one_id_at_once_one_gets_it(
        self, experiments: ExperimentRepository
    ) -> None:
        wanted = [make_experiment(name=f"rival {number}") for number in range(8)]

        outcomes = await asyncio.gather(
            *map(experiments.create_experiment, wanted), return_exceptions=True
        )

        assert [type(outcome) for outcome in outcomes].count(ConflictError) == 7
        assert outcomes.count(None) == 1

    async def test_an_unknown_dataset_is_refused(self, experiments: ExperimentRepository) -> None:
        with pytest.raises(UsageError, match="dataset"):
            await experiments.create_experiment(make_experiment(dataset_id="nowhere"))

    async def test_an_unknown_experiment_is_not_found(
        self, experiments: ExperimentRepository
    ) -> None:
        async def stream() -> None:
            async for _ in experiments.stream_results("none\x00"):
                pass

        attempts: list[Callable[[], Awaitable[Any]]] = [
            lambda: experiments.get_experiment("none\x00"),
            lambda: experiments.update_experiment("none\x00", planned_items=1),
            lambda: experiments.save_results("none\x00", [make_result()]),
            lambda: experiments.get_results("none\x00"),
            lambda: experiments.get_results("none\x00", item_ids=["i1"]),
            lambda: experiments.item_scores("none\x00"),
            lambda: experiments.summarise("none\x00"),
            lambda: experiments.list_experiments(before="none\x00"),
            stream,
        ]
        for attempt in attempts:
            with pytest.raises(UsageError) as caught:
                await attempt()
            assert caught.value.code == "not_found"

    async def test_an_update_changes_only_what_it_is_given(
        self, experiments: ExperimentRepository
    ) -> None:
        await experiments.create_experiment(
            make_experiment(planned_items=5, metadata={"a": 1, "deep": {"x": 1}})
        )
        before = await experiments.get_experiment("e1")

        await experiments.update_experiment("e1", status=ExperimentStatus.COMPLETED)
        await experiments.update_experiment("e1", metadata={"deep": {"y": 2}, "b": "\x00"})

        after = await experiments.get_experiment("e1")
        assert after.status is ExperimentStatus.COMPLETED
        assert after.metadata == {"a": 1, "deep": {"y": 2}, "b": "\x00"}
        assert after.planned_items == 5
        assert after.updated_at > before.updated_at
        assert after.created_at == before.created_at

    async def test_metadata_written_at_once_is_all_kept(
        self, experiments: ExperimentRepository
    ) -> None:
        await experiments.create_experiment(make_experiment())

        await asyncio.gather(
            *(experiments.update_experiment("e1", metadata={f"k{n}": n}) for n in range(20))
        )

        stored = await experiments.get_experiment("e1")
        assert stored.metadata == {f"k{n}": n for n in range(20)}

    async def test_listing_is_newest_first_in_pages(
        self, experiments: ExperimentRepository
    ) -> None:
        for number in range(7):
            owner = "o1" if number % 2 else None
            await experiments.create_experiment(
                make_experiment(f"e{number}", name=f"n{number % 3}", optimization_id=owner)
            )

        first = await experiments.list_experiments(limit=3)
        second = await experiments.list_experiments(limit=3, before=first[-1].id)
        last = await experiments.list_experiments(limit=3, before=second[-1].id)
        of_name = await experiments.list_experiments(name="n1")
        of_optimization = await experiments.list_experiments(optimization_id="o1", before="e5")
        standalone = await experiments.list_experiments(standalone=True, limit=3)

        pages = [[experiment.id for experiment in page] for page in (first, second, last)]
        assert pages == [["e6", "e5", "e4"], ["e3", "e2", "e1"], ["e0"]]
        assert [experiment.id for experiment in of_name] == ["e4", "e1"]
        assert [experiment.id for experiment in of_optimization] == ["e3", "e1"]
        assert [experiment.id for experiment in standalone] == ["e6", "e4", "e2"]
        assert await experiments.list_experiments(limit=0) == []


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


class ExperimentRepositoryContract(
    ExperimentRecordsContract,
    ExperimentResultsContract,
    ExperimentRoundsContract,
    ExperimentSummariesContract,
):
    """Provide `experiments`, and `datasets` on the same store."""
