"""What every repository keeps to with the experiments themselves."""

# ruff: noqa: D102 - the names of the tests say what they show

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from burnish.domain import (
    Configuration,
    ConflictError,
    DatasetRepository,
    ExperimentRepository,
    ExperimentStatus,
    ExperimentType,
    UsageError,
)
from burnish.testing.experiment_samples import (
    AWKWARD_JSON,
    AWKWARD_TEXTS,
    make_experiment,
    make_result,
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
