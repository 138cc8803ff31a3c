"""What every experiment repository keeps to. Subclass it and provide `repository`."""

# ruff: noqa: D102 - the names of the tests say what they show

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from burnish.domain import (
    AgentOutput,
    CacheScope,
    Configuration,
    ConflictError,
    DatasetRepository,
    ErrorKind,
    ExperimentRepository,
    ExperimentStatus,
    ExperimentSummary,
    ExperimentType,
    InvariantError,
    ItemError,
    ItemResult,
    Purpose,
    Score,
    Spending,
    Usage,
    UsageError,
)
from burnish.testing.experiment_samples import (
    AWKWARD_JSON,
    AWKWARD_TEXTS,
    SCOPE,
    failed_result,
    make_experiment,
    make_result,
    random_results,
    summary_of,
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
        standalone = await experiments.list_experiments(standalone=True, limit=3)

        pages = [[experiment.id for experiment in page] for page in (first, second, last)]
        assert pages == [["e6", "e5", "e4"], ["e3", "e2", "e1"], ["e0"]]
        assert [experiment.id for experiment in of_name] == ["e4", "e1"]
        assert [experiment.id for experiment in of_optimization] == ["e3", "e1"]
        assert [experiment.id for experiment in standalone] == ["e6", "e4", "e2"]
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
            reused=Spending({"agent": Usage(calls=1, output_tokens=7), "refine": _unpriced()}),
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
        assert summary.avg_cost_usd == pytest.approx(expected.avg_cost_usd)
        assert summary == replace(
            expected,
            spending=summary.spending,
            avg_latency_ms=summary.avg_latency_ms,
            avg_ttft_ms=summary.avg_ttft_ms,
            avg_cost_usd=summary.avg_cost_usd,
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
        assert first.avg_tokens == second.avg_tokens
        assert first.avg_cost_usd == second.avg_cost_usd

    async def test_an_answer_takes_as_much_when_it_is_reused(
        self, experiments: ExperimentRepository
    ) -> None:
        paid = Spending.on(Purpose.AGENT, Usage(calls=1, input_tokens=90, cost_usd=0.2))
        judged = Spending.on(Purpose.JUDGE, Usage(calls=1, input_tokens=5, cost_usd=0.1))
        none = Spending.on(Purpose.AGENT, Usage())
        broken = failed_result("i3", spending=paid)
        for name in ("paid", "reused", "untold"):
            await experiments.create_experiment(make_experiment(name))
        await experiments.save_results(
            "paid",
            [make_result("i1", spending=paid + judged), make_result("i2", spending=none), broken],
        )
        await experiments.save_results(
            "reused",
            [
                make_result("i1", reused=paid, spending=judged, cached=True),
                make_result("i2", reused=none, cached=True),
            ],
        )
        await experiments.save_results("untold", [make_result("i1", spending=judged)])

        first, second, third = [
            await experiments.summarise(name) for name in ("paid", "reused", "untold")
        ]

        assert (first.avg_tokens, first.avg_cost_usd) == (45, 0.1)
        assert (second.avg_tokens, second.avg_cost_usd) == (45, 0.1)
        assert second.spending == judged
        assert (third.avg_tokens, third.avg_cost_usd) == (None, None)

    async def test_the_cost_is_unknown_where_one_price_is(
        self, experiments: ExperimentRepository
    ) -> None:
        await experiments.create_experiment(make_experiment())
        known = Spending.on(Purpose.AGENT, Usage(calls=1, input_tokens=9, cost_usd=0.2))
        unknown = Spending.on(Purpose.AGENT, Usage(calls=1, input_tokens=3, cost_usd=None))
        results = [make_result("i1", spending=known), make_result("i2", reused=unknown)]
        await experiments.save_results("e1", results)

        summary = await experiments.summarise("e1")

        assert (summary.avg_tokens, summary.avg_cost_usd) == (6, None)

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
