"""What every repository keeps to. Subclass a contract and provide the fixtures that it names."""

# ruff: noqa: D102 - the names of the tests say what they show

from __future__ import annotations

import asyncio
import math
import os
import random
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, text

from burnish.domain import (
    AgentOutput,
    CacheScope,
    CallCache,
    Configuration,
    ConflictError,
    DatasetRepository,
    ErrorKind,
    Experiment,
    ExperimentRepository,
    ExperimentStatus,
    ExperimentSummary,
    ExperimentType,
    InvariantError,
    Item,
    ItemError,
    ItemResult,
    Purpose,
    Score,
    Spending,
    Usage,
    UsageError,
)
from burnish.storage import Database, SqlCallCache, SqlExperimentRepository
from burnish.storage.schema import VERSION_TABLE
from burnish.storage.tables import metadata
from burnish.testing.clocks import FakeClock

# Everything that some database or some encoder has been known to lose.
AWKWARD_TEXTS = (
    "",
    " \t\n",
    "NUL \x00 within",
    "\x00",
    "\x02 starts with the mark",
    "\x1b[31m \x7f \u2028",
    "naïve Ünïcödé 漢字 🙂 e\u0301",
    "half a pair \ud800",
    "'; DROP TABLE experiments; -- %s ? :name \\u0000 \\",
    "x" * 20_000,
)
AWKWARD_JSON: dict[str, Any] = {
    "texts": list(AWKWARD_TEXTS),
    "big": [2**53 + 1, -(2**63), 2**200],
    "floats": [0.1, -0.0, 1e-308, 1.7976931348623157e308, 5e-324, 1.0],
    "nested": {"": [[], {}, None, True, False], "NUL \x00": {"漢字": [1]}},
}

SCOPE = CacheScope(agent_fingerprint="agent", configuration_hash="configuration")


def make_experiment(identity: str = "e1", **changes: Any) -> Experiment:
    """A plain experiment."""
    plain = Experiment(
        id=identity,
        name="an experiment",
        type=ExperimentType.REGULAR,
        status=ExperimentStatus.RUNNING,
        agent_name="router",
        configuration=Configuration.of({"sections": {"system": "Route {{ticket}}."}}),
        suite_name="suite",
        dataset_id=None,
        planned_items=None,
    )
    return replace(plain, **changes)


def make_result(item_id: str = "i1", repeat: int = 0, **changes: Any) -> ItemResult:
    """A plain result with one score."""
    plain = ItemResult(
        item_id=item_id,
        item_hash=f"hash of {item_id}",
        repeat=repeat,
        score=1.0,
        passed=True,
        output=AgentOutput(text="billing"),
        scores=(Score(1.0, name="exact_match"),),
    )
    return replace(plain, **changes)


def failed_result(item_id: str = "i1", repeat: int = 0, **changes: Any) -> ItemResult:
    """A result of an item that could not be run."""
    error = ItemError(kind=ErrorKind.INFRASTRUCTURE, message="no answer")
    made = make_result(item_id, repeat, score=0.0, passed=False, output=None, scores=())
    return replace(made, error=error, **changes)


def random_results(seed: int, count: int) -> list[ItemResult]:
    """Results of every sort: passed, failed, errors, cached, priced or not."""
    draw = random.Random(seed)  # noqa: S311 - reproducible on purpose
    return [_random_result(draw, number) for number in range(count)]


def _random_result(draw: random.Random, number: int) -> ItemResult:
    error = None
    if draw.random() < 0.2:
        error = ItemError(kind=draw.choice(list(ErrorKind)), message=f"error {number}")
    score = 0.0 if error else draw.random()
    spending = {
        purpose.value: Usage(
            calls=draw.randrange(3),
            input_tokens=draw.randrange(2000),
            output_tokens=draw.randrange(200),
            cached_tokens=draw.randrange(100),
            cost_usd=None if draw.random() < 0.01 else draw.random() / 100,
        )
        for purpose in draw.sample(list(Purpose), draw.randrange(3))
    }
    return make_result(
        f"item {number // 3}",
        number % 3,
        score=score,
        passed=error is None and score >= 0.5,
        output=AgentOutput(text="x", ttft_ms=draw.choice([None, draw.random() * 100])),
        scores=tuple(Score(score, name=f"scorer {n}") for n in range(draw.randrange(4))),
        error=error,
        spending=Spending(spending),
        latency_ms=draw.random() * 1000,
        cached=draw.random() < 0.3,
    )


def summary_of(results: Sequence[ItemResult]) -> ExperimentSummary:
    """What a summary says, computed the plain way."""
    runs = len(results)
    first_tokens = [r.output.ttft_ms for r in results if r.output and r.output.ttft_ms is not None]
    kinds = [result.error.kind for result in results if result.error]
    passed = sum(result.passed for result in results)
    return ExperimentSummary(
        runs=runs,
        passed=passed,
        failed=runs - passed,
        errors=len(kinds),
        infrastructure_errors=sum(
            kind in (ErrorKind.INFRASTRUCTURE, ErrorKind.TIMEOUT) for kind in kinds
        ),
        score=math.fsum(result.score for result in results) / runs,
        pass_rate=passed / runs,
        spending=Spending.sum(result.spending for result in results),
        avg_latency_ms=math.fsum(result.latency_ms for result in results) / runs,
        avg_ttft_ms=math.fsum(first_tokens) / len(first_tokens),
        cached=sum(result.cached for result in results),
    )


class ExperimentRepositoryContract:
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

        pages = [[experiment.id for experiment in page] for page in (first, second, last)]
        assert pages == [["e6", "e5", "e4"], ["e3", "e2", "e1"], ["e0"]]
        assert [experiment.id for experiment in of_name] == ["e4", "e1"]
        assert [experiment.id for experiment in of_optimization] == ["e3", "e1"]
        assert await experiments.list_experiments(limit=0) == []

    @pytest.mark.parametrize("text", AWKWARD_TEXTS, ids=range(len(AWKWARD_TEXTS)))
    async def test_every_field_of_a_result_comes_back(
        self, experiments: ExperimentRepository, text: str
    ) -> None:
        await experiments.create_experiment(make_experiment())
        given = ItemResult(
            item_id=text[:500],
            item_hash=f"hash {text[:100]}",
            repeat=3,
            score=0.1 + 0.2,
            passed=False,
            output=AgentOutput(
                text=text,
                data=AWKWARD_JSON,
                trace=[text, {"step": text}],
                finish_reason="length",
                ttft_ms=1 / 3,
            ),
            scores=(
                Score(0.25, text, True, text, text),
                Score(-1e308, name="second", passed=False),
                Score(1),
            ),
            error=ItemError(kind=ErrorKind.SCORER, message=text),
            spending=Spending(
                {"agent": Usage(calls=2, input_tokens=2**60, cost_usd=0.1), text: _unpriced()}
            ),
            latency_ms=12.345678901234567,
            cached=True,
        )
        bare = ItemResult(
            item_id="bare", item_hash="h", repeat=0, score=1.0, passed=True, output=None
        )

        await experiments.save_results("e1", [given, bare])

        assert await experiments.get_results("e1", item_ids=[text[:500]]) == [given]
        assert await experiments.get_results("e1", item_ids=["bare"]) == [bare]

    async def test_what_is_not_json_is_refused_and_nothing_kept(
        self, experiments: ExperimentRepository
    ) -> None:
        await experiments.create_experiment(make_experiment())
        for value in (math.nan, object(), {"deep": [math.inf]}, [10**5000]):
            bad = make_result("bad", output=AgentOutput(text="", data=value))  # type: ignore[arg-type]

            with pytest.raises(UsageError) as caught:
                await experiments.save_results("e1", [make_result("good"), bad])

            assert caught.value.code == "not_json"
        assert await experiments.get_results("e1") == []

    async def test_a_batch_is_kept_whole_or_not_at_all(
        self, experiments: ExperimentRepository
    ) -> None:
        await experiments.create_experiment(make_experiment())
        kept = make_result("i1", score=0.5)
        await experiments.save_results("e1", [kept])
        unnamed = Score(1.0, name=None)  # type: ignore[arg-type]

        with pytest.raises(InvariantError):
            # The scores are written last, so the rows before them have to go again.
            await experiments.save_results(
                "e1", [make_result("i1"), make_result("i2"), make_result("i3", scores=(unnamed,))]
            )

        assert await experiments.get_results("e1") == [kept]

    async def test_saving_again_replaces_a_result_and_all_its_scores(
        self, experiments: ExperimentRepository
    ) -> None:
        await experiments.create_experiment(make_experiment())
        old = make_result(scores=(Score(1.0, name="a"), Score(0.5, name="b")))
        new = failed_result(scores=(Score(0.0, name="c"),))
        untouched = make_result(repeat=1)

        await experiments.save_results("e1", [old, untouched])
        await experiments.save_results("e1", [old, untouched])
        await experiments.save_results("e1", [new, make_result("i2")])

        assert await experiments.get_results("e1") == [new, untouched, make_result("i2")]

    async def test_of_a_result_that_is_twice_in_a_batch_the_last_stays(
        self, experiments: ExperimentRepository
    ) -> None:
        await experiments.create_experiment(make_experiment())

        await experiments.save_results("e1", [failed_result(), make_result()])

        assert await experiments.get_results("e1") == [make_result()]
        await experiments.save_results("e1", [])

    async def test_results_come_in_order_whatever_order_they_were_saved_in(
        self, experiments: ExperimentRepository
    ) -> None:
        await experiments.create_experiment(make_experiment())
        await experiments.create_experiment(make_experiment("e2"))
        names = ["a", "B", "a b", "ab", "Z", "é", "漢", "🙂", "_", "-"]
        saved = [make_result(f"{name}{n}", n % 3) for name in names for n in range(130)]
        random.Random(7).shuffle(saved)  # noqa: S311 - reproducible on purpose

        for start in range(0, len(saved), 100):
            await experiments.save_results("e1", saved[start : start + 100])
        await experiments.save_results("e2", saved[:5])

        streamed = [result async for result in experiments.stream_results("e1")]
        assert streamed == sorted(saved, key=lambda result: (result.item_id, result.repeat))
        assert streamed == await experiments.get_results("e1")
        every_other = [result.item_id for result in streamed[::2]]
        some = await experiments.get_results("e1", item_ids=[*every_other, "unknown"])
        assert some == streamed[::2]

    async def test_a_cached_result_is_found_from_any_experiment(
        self, experiments: ExperimentRepository
    ) -> None:
        for name in ("e1", "e2"):
            await experiments.create_experiment(make_experiment(name))
        first = [make_result(f"i{n}", n % 2) for n in range(700)]
        await experiments.save_results("e1", first, cache=SCOPE, scorers_fingerprint="s\x001")
        renamed = make_result("other", item_hash=first[0].item_hash, cached=True, score=0.5)
        await experiments.save_results("e2", [renamed], cache=SCOPE)

        wanted = [(result.item_hash, result.repeat) for result in first]
        found = await experiments.cached_results(SCOPE, [*wanted, wanted[0], ("unknown", 0)])

        assert found.pop(wanted[0]) == (renamed, None)
        assert found == {key: (r, "s\x001") for key, r in list(zip(wanted, first, strict=True))[1:]}

    async def test_the_cache_answers_for_nothing_else(
        self, experiments: ExperimentRepository
    ) -> None:
        await experiments.create_experiment(make_experiment())
        await experiments.save_results("e1", [make_result("i1")], cache=SCOPE)
        await experiments.save_results("e1", [make_result("i2")])
        await experiments.save_results("e1", [failed_result("i3")], cache=SCOPE)
        await experiments.save_results("e1", [make_result("i4")], cache=SCOPE)
        await experiments.save_results("e1", [failed_result("i4")], cache=SCOPE)

        others = [
            replace(SCOPE, agent_fingerprint="other"),
            replace(SCOPE, configuration_hash="other"),
            CacheScope(agent_fingerprint="agentconf", configuration_hash="iguration"),
        ]
        keys = [(f"hash of i{number}", 0) for number in (1, 2, 3, 4)]

        for other in others:
            assert await experiments.cached_results(other, keys) == {}
        assert await experiments.cached_results(SCOPE, [("hash of i1", 1)]) == {}
        assert set(await experiments.cached_results(SCOPE, keys)) == {("hash of i1", 0)}
        assert await experiments.cached_results(SCOPE, []) == {}

    async def test_the_newest_cached_result_wins_also_when_an_old_one_is_saved_again(
        self, experiments: ExperimentRepository
    ) -> None:
        for name in ("e1", "e2"):
            await experiments.create_experiment(make_experiment(name))
        key = ("hash of i1", 0)

        for name, score in (("e1", 0.1), ("e2", 0.2), ("e1", 0.3)):
            saved = make_result(score=score, scores=(Score(score, name=name),))
            await experiments.save_results(name, [saved], cache=SCOPE, scorers_fingerprint=name)

            assert await experiments.cached_results(SCOPE, [key]) == {key: (saved, name)}

    @pytest.mark.parametrize("seed", range(3))
    async def test_a_summary_is_what_the_results_amount_to(
        self, experiments: ExperimentRepository, seed: int
    ) -> None:
        results = random_results(seed, count=200 + seed)
        for name in ("e1", "other"):
            await experiments.create_experiment(make_experiment(name))
        await experiments.save_results("other", random_results(99, count=10))
        await experiments.save_results("e1", results)

        summary = await experiments.summarise("e1")
        scores = await experiments.item_scores("e1")

        expected = summary_of(results)
        assert summary.avg_latency_ms == pytest.approx(expected.avg_latency_ms)
        assert summary.avg_ttft_ms == pytest.approx(expected.avg_ttft_ms)
        assert summary == replace(
            expected,
            spending=summary.spending,
            avg_latency_ms=summary.avg_latency_ms,
            avg_ttft_ms=summary.avg_ttft_ms,
        )
        assert summary.spending.by_purpose.keys() == expected.spending.by_purpose.keys()
        for purpose, usage in expected.spending.by_purpose.items():
            found = summary.spending.by_purpose[purpose]
            assert found == replace(usage, cost_usd=found.cost_usd)
            assert found.cost_usd == pytest.approx(usage.cost_usd)
        assert scores == {
            item_id: math.fsum(mine) / len(mine)
            for item_id in {result.item_id for result in results}
            for mine in [[r.score for r in results if r.item_id == item_id]]
        }

    async def test_a_summary_does_not_depend_on_the_order_of_writing(
        self, experiments: ExperimentRepository
    ) -> None:
        results = random_results(5, count=300)
        summaries = []
        for name in ("e1", "e2"):
            await experiments.create_experiment(make_experiment(name))
            for start in range(0, 300, 50):
                await experiments.save_results(name, results[start : start + 50])
            summaries.append(await experiments.summarise(name))
            results.reverse()

        first, second = summaries
        assert (first.score, first.spending) == (second.score, second.spending)

    async def test_the_summary_of_nothing_has_no_score(
        self, experiments: ExperimentRepository
    ) -> None:
        await experiments.create_experiment(make_experiment())

        summary = await experiments.summarise("e1")

        assert summary == ExperimentSummary(
            runs=0,
            passed=0,
            failed=0,
            errors=0,
            infrastructure_errors=0,
            score=None,
            pass_rate=None,
        )
        assert await experiments.item_scores("e1") == {}

    async def test_twenty_writers_at_once_lose_nothing(
        self, experiments: ExperimentRepository
    ) -> None:
        for number in range(4):
            await experiments.create_experiment(make_experiment(f"e{number}"))

        async def write(writer: int) -> None:
            for batch in range(3):
                mine = [make_result(f"w{writer} b{batch} {n}") for n in range(10)]
                everyones = make_result("shared", score=writer / 20)
                await experiments.save_results(f"e{writer % 4}", [*mine, everyones], cache=SCOPE)
                await experiments.summarise(f"e{writer % 4}")

        await asyncio.gather(*map(write, range(20)))

        for number in range(4):
            assert (await experiments.summarise(f"e{number}")).runs == 5 * 3 * 10 + 1

    async def test_a_cancelled_save_holds_up_nobody(
        self, experiments: ExperimentRepository
    ) -> None:
        await experiments.create_experiment(make_experiment())
        batch = [make_result(f"i{number}") for number in range(200)]

        for turns in range(12):
            saving = asyncio.ensure_future(experiments.save_results("e1", batch))
            for _ in range(turns):
                await asyncio.sleep(0)
            saving.cancel()
            await asyncio.gather(saving, return_exceptions=True)
        async with asyncio.timeout(10):
            await experiments.save_results("e1", [make_result("after")])

        assert (await experiments.summarise("e1")).runs in (1, 201)


def _unpriced() -> Usage:
    return Usage(calls=1, output_tokens=3, cached_tokens=4, cost_usd=None)


class DatasetRepositoryContract:
    """Provide `datasets`."""

    async def test_rows_come_back_as_they_were_and_in_order(
        self, datasets: DatasetRepository
    ) -> None:
        items = [
            Item(id=f"{text[:50]}{n}", data={"text": text, "n": n}, split=split)
            for n, (text, split) in enumerate(
                (text, split)
                for text in AWKWARD_TEXTS
                if "\ud800" not in text
                for split in (None, "train", "test")
            )
        ]
        items.append(Item(id="no surrogates", data={"n": [1, 1.0, 2**70], "": {"a": [None]}}))
        items += [Item(id=f"more {n}", data={"n": -n}) for n in range(1200)]

        record = await datasets.ensure_dataset("reviews \x00", "fingerprint", iter(items))

        assert record.items == len(items)
        assert record.name == "reviews \x00"
        assert record.created_at.endswith("Z")
        stored = [item async for item in datasets.stream_items(record.id)]
        assert stored == items
        assert [item.hash for item in stored] == [item.hash for item in items]
        assert await datasets.get_dataset(record.id) == record

    async def test_known_content_is_not_read_again(self, datasets: DatasetRepository) -> None:
        def unreadable() -> Iterator[Item]:
            raise AssertionError("read")
            yield

        first = await datasets.ensure_dataset("d", "f", [Item(id="1", data={})])

        assert await datasets.ensure_dataset("d", "f", unreadable()) == first

    async def test_other_content_or_another_name_is_another_record(
        self, datasets: DatasetRepository
    ) -> None:
        records = [
            await datasets.ensure_dataset(name, fingerprint, [Item(id=name, data={})])
            for name, fingerprint in (("d", "f"), ("d", "g"), ("e", "f"))
        ]

        assert len({record.id for record in records}) == 3
        for record in records:
            stored = [item.id async for item in datasets.stream_items(record.id)]
            assert stored == [record.name]

    async def test_rows_that_break_off_leave_nothing(self, datasets: DatasetRepository) -> None:
        def broken() -> Iterator[Item]:
            yield from (Item(id=str(n), data={}) for n in range(1300))
            raise FileNotFoundError("the file went away")

        with pytest.raises(FileNotFoundError, match="went away"):
            await datasets.ensure_dataset("d", "f", broken())

        record = await datasets.ensure_dataset("d", "f", [Item(id="whole", data={})])
        assert [item.id async for item in datasets.stream_items(record.id)] == ["whole"]

    async def test_many_who_bring_the_same_content_get_one_record(
        self, datasets: DatasetRepository
    ) -> None:
        items = [Item(id=str(n), data={"n": n}) for n in range(50)]

        records = await asyncio.gather(
            *(datasets.ensure_dataset("d", "f", iter(items)) for _ in range(8))
        )

        assert len({record.id for record in records}) == 1
        assert {record.items for record in records} == {50}
        assert [item async for item in datasets.stream_items(records[0].id)] == items

    async def test_an_unknown_dataset_is_not_found(self, datasets: DatasetRepository) -> None:
        with pytest.raises(UsageError) as caught:
            await datasets.get_dataset("none\x00")
        assert caught.value.code == "not_found"
        with pytest.raises(UsageError):
            await anext(aiter(datasets.stream_items("none")))


class CallCacheContract:
    """Provide `cache`."""

    async def test_a_value_comes_back_as_it_was(self, cache: CallCache) -> None:
        await cache.put("k", AWKWARD_JSON)

        assert await cache.get("k") == AWKWARD_JSON
        assert await cache.get("other") is None

    async def test_the_last_value_stays(self, cache: CallCache) -> None:
        await cache.put("k\x00", {"n": 1})
        await cache.put("k\x00", {"n": 2})

        assert await cache.get("k\x00") == {"n": 2}

    async def test_many_at_once_are_all_kept(self, cache: CallCache) -> None:
        await asyncio.gather(*(cache.put(f"k{n}", {"n": n}) for n in range(300)))

        found = await asyncio.gather(*(cache.get(f"k{n}") for n in range(300)))
        assert found == [{"n": n} for n in range(300)]


_OPENER = """
import asyncio, sys
from burnish.storage import Database
async def main():
    print("ready", flush=True)
    sys.stdin.readline()
    database = await Database.open(sys.argv[1])
    await database.close()
    print("opened", "alembic" in sys.modules, flush=True)
asyncio.run(main())
"""

_WRITER = """
import asyncio, sys
from burnish.domain import AgentOutput, ItemResult, Score
from burnish.storage import Database, SqlExperimentRepository
def result(name):
    return ItemResult(item_id=name, item_hash=name, repeat=0, score=1.0, passed=True,
                      output=AgentOutput(text="x" * 500), scores=(Score(1.0, name="s"),))
async def main():
    database = await Database.open(sys.argv[1])
    repository = SqlExperimentRepository(database)
    for batch in range(1_000_000):
        results = [result(f"{batch} {n}") for n in range(20)]
        await repository.save_results(sys.argv[2], results)
        print(batch, flush=True)
asyncio.run(main())
"""


class DatabaseContract:
    """What SQL storage keeps to besides. Provide `address`, of a database that is still empty."""

    async def test_a_database_is_made_once_and_then_opened_at_once(self, address: str) -> None:
        first = await Database.open(address)
        await SqlExperimentRepository(first).create_experiment(make_experiment())
        await first.close()
        await first.close()

        async with await Database.open(address) as second:
            stored = await SqlExperimentRepository(second).get_experiment("e1")

        assert stored.name == "an experiment"
        with pytest.raises(InvariantError, match="closed"):
            await SqlExperimentRepository(second).get_experiment("e1")

    async def test_migrations_build_the_tables_that_the_code_uses(self, address: str) -> None:
        async with await Database.open(address) as database:
            changes = await database.read(lambda connection: connection.run_sync(_differences))

        assert changes == []

    async def test_processes_that_open_a_new_database_at_once_all_succeed(
        self, address: str
    ) -> None:
        with _children(_OPENER, [(address,), (address,)]) as openers:
            for opener in openers:
                assert _line(opener) == "ready"
            for opener in openers:
                _tell(opener, "go")
            for opener in openers:
                assert _line(opener).startswith("opened")

        # With nothing to migrate Alembic, which is slow, is not even loaded.
        with _children(_OPENER, [(address,)]) as (again,):
            _tell(again, "go")
            assert [_line(again), _line(again)] == ["ready", "opened False"]

    async def test_a_killed_writer_loses_nothing_that_it_was_told_is_kept(
        self, address: str
    ) -> None:
        async with await Database.open(address) as database:
            repository = SqlExperimentRepository(database)
            names = ["e0", "e1"]
            for name in names:
                await repository.create_experiment(make_experiment(name))

            told = []
            with _children(_WRITER, [(address, name) for name in names]) as writers:
                for lines, writer in zip((5, 17), writers, strict=True):
                    for _ in range(lines):
                        _line(writer)
                    os.kill(writer.pid, signal.SIGKILL)
                    assert writer.stdout is not None
                    told.append(lines + len(writer.stdout.read().splitlines()))

            for name, batches in zip(names, told, strict=True):
                kept = [r.item_id for r in await repository.get_results(name)]
                whole, rest = divmod(len(kept), 20)
                assert (rest, whole - batches) in ((0, 0), (0, 1))
                assert set(kept) == {f"{b} {n}" for b in range(whole) for n in range(20)}

    async def test_what_several_programs_write_to_one_record_is_all_kept(
        self, address: str
    ) -> None:
        async with await Database.open(address) as one, await Database.open(address) as two:
            repositories = [SqlExperimentRepository(one), SqlExperimentRepository(two)]
            await repositories[0].create_experiment(make_experiment())

            await asyncio.gather(
                *(
                    repositories[n % 2].update_experiment("e1", metadata={f"k{n}": n})
                    for n in range(20)
                )
            )

            stored = await repositories[1].get_experiment("e1")
        assert stored.metadata == {f"k{n}": n for n in range(20)}

    async def test_a_write_whose_answer_was_lost_may_be_done_again(self, address: str) -> None:
        async with await Database.open(address) as database:
            repository = SqlExperimentRepository(_Twice(database))  # type: ignore[arg-type]

            await repository.create_experiment(make_experiment())
            await repository.update_experiment("e1", metadata={"a": 1})
            await repository.save_results("e1", [make_result()], cache=SCOPE)

            assert await repository.get_results("e1") == [make_result()]
            assert (await repository.get_experiment("e1")).metadata == {"a": 1}

    async def test_a_newer_database_is_refused(self, address: str) -> None:
        async with await Database.open(address) as database:
            change = text("UPDATE burnish_version SET version_num = '9999'")
            await database.write(lambda connection: connection.execute(change))

        with pytest.raises(ConflictError, match="newer") as caught:
            await Database.open(address)

        assert caught.value.code == "newer_database"

    async def test_tables_of_another_program_are_left_alone(self, address: str) -> None:
        async with await Database.open(address) as database:
            change = text("DROP TABLE burnish_version")
            await database.write(lambda connection: connection.execute(change))

        with pytest.raises(ConflictError) as caught:
            await Database.open(address)

        assert caught.value.code == "foreign_database"

    async def test_a_full_cache_forgets_what_was_not_used_for_longest(self, address: str) -> None:
        clock = FakeClock()
        async with await Database.open(address, clock=clock) as database:
            cache = SqlCallCache(database, max_bytes=20_000)
            for number in range(15):
                await cache.put(f"k{number}", {"text": "x" * 1000})
            clock.advance(7200)
            assert await cache.get("k3") is not None
            for number in range(15, 22):
                await cache.put(f"k{number}", {"text": "x" * 1000})

            kept = {number for number in range(22) if await cache.get(f"k{number}")}

        assert len(kept) <= 20
        assert {3, 19, 20, 21} <= kept
        assert not {0, 1, 2} & kept

    async def test_stamps_grow_even_when_the_clock_is_set_back(self, address: str) -> None:
        clock = FakeClock()
        async with await Database.open(address, clock=clock) as database:
            stamps = [database.stamp(), database.stamp()]
            clock.advance(-3600)
            stamps += [database.stamp(), database.stamp()]

        assert stamps == sorted(set(stamps))


class _Twice:
    """A database whose first answer to every write gets lost."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    async def write(self, work: Any) -> Any:
        await self._database.write(work)
        return await self._database.write(work)


def _differences(connection: Connection) -> list[Any]:
    def differ(*columns: Any) -> bool:
        # Context, inspected column, declared column, and the two types, which are last.
        inspected, declared = (
            # The driver calls our texts VARCHAR when it casts; to PostgreSQL they are one.
            kind.compile(connection.dialect).replace("VARCHAR", "TEXT")
            for kind in columns[-2:]
        )
        return bool(inspected != declared)

    options = {"version_table": VERSION_TABLE, "compare_type": differ}
    context = MigrationContext.configure(connection, opts=options)
    return list(compare_metadata(context, metadata))


@contextmanager
def _children(
    script: str, arguments: Sequence[tuple[str, ...]]
) -> Iterator[list[subprocess.Popen[str]]]:
    """A process for each tuple of arguments; none outlives the block."""
    with ExitStack() as stack:
        started = []
        for words in arguments:
            child = subprocess.Popen(  # noqa: S603 - our own script
                [sys.executable, "-W", "error", "-c", script, *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            started.append(stack.enter_context(child))
            stack.callback(child.kill)
        yield started


def _tell(child: subprocess.Popen[str], words: str) -> None:
    assert child.stdin is not None
    child.stdin.write(f"{words}\n")
    child.stdin.flush()


def _line(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    line = child.stdout.readline()
    if not line:
        raise AssertionError(child.communicate()[1])
    return line.strip()
