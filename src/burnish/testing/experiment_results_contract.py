"""Contract for results and summaries in experiment repositories."""

from __future__ import annotations

import asyncio
import math
import random
from dataclasses import replace

import pytest

from burnish.domain import (
    AgentOutput,
    CacheScope,
    ErrorKind,
    ExperimentRepository,
    ExperimentSummary,
    InvariantError,
    ItemError,
    ItemResult,
    Purpose,
    Score,
    Spending,
    Usage,
    UsageError,
)
from burnish.testing.samples.experiments import (
    AWKWARD_JSON,
    AWKWARD_TEXTS,
    SCOPE,
    failed_result,
    make_experiment,
    make_result,
    random_results,
    summary_of,
)


class ExperimentResultsContract:
    """Provide `experiments`, and `datasets` on the same store."""

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
                Score(-1e308, name="second", passed=False, step=3),
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


class ExperimentSummariesContract:
    """Provide `experiments`, and `datasets` on the same store."""

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
        answered = [one for one in results if one.error is None or one.error.kind.scored]
        assert scores == {
            item_id: math.fsum(mine) / len(mine)
            for item_id in {result.item_id for result in results}
            for mine in [[r.score for r in answered if r.item_id == item_id]]
            if mine
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
        for name in ("paid", "reused", "undecided"):
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
        await experiments.save_results("undecided", [make_result("i1", spending=judged)])

        first, second, third = [
            await experiments.summarise(name) for name in ("paid", "reused", "undecided")
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
