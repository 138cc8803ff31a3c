"""The main and the eval loop: overrides, the experiment that code can see, limits and failures."""

import asyncio
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

import burnish
from burnish.domain import ErrorKind, ExperimentContext, UnavailableError
from burnish.evaluation.agents import PythonAgent
from burnish.overrides import (
    LocalPromptOverridesStore,
    PromptOverride,
    SectionOverride,
    descriptor_of,
)
from burnish.runtime import (
    Delivery,
    EvalLoop,
    EvalReport,
    EvalRequest,
    EvalResult,
    EvalSummary,
    InMemoryMailbox,
    MainLoop,
    MainLoopRequest,
    ask,
    run_eval,
    samples_of,
)
from burnish.runtime.loops import RetryRules, asking

OWN = burnish.Configuration.of({"sections": {"system": "Say hello.", "user": "{{name}}"}})


def agent_of(function):
    return PythonAgent(name="greeter", configuration=OWN, run=function, version="1")


def greet(configuration, item):
    return f"{configuration['sections']['system']} {item['name']}"


@pytest.fixture
async def store(tmp_path):
    async with LocalPromptOverridesStore(tmp_path) as opened:
        yield opened


async def tag(store, name, body, base=OWN):
    descriptor = descriptor_of("greeter", base)
    override = SectionOverride(
        path="system", expected_hash=descriptor.section("system").content_hash, body=body
    )
    await store.upsert(descriptor, PromptOverride.of(descriptor, name, [override]))


def under(name, **flags):
    return ExperimentContext(id="e1", name="test", overrides_tag=name, flags=flags)


def hello(**settings):
    return MainLoopRequest(request={"name": "Ann"}, **settings)


async def test_the_experiments_tag_decides_the_text(store):
    await tag(store, "stable", "Say hi.")
    await tag(store, "bold", "SHOUT.")
    loop = MainLoop(agent=agent_of(greet), overrides_store=store)

    plain = await loop.execute(hello())
    bold = await loop.execute(hello(experiment=under("bold")))

    assert (plain.output.text, plain.overrides_tag) == ("Say hi. Ann", "stable")
    assert (bold.output.text, bold.overridden) == ("SHOUT. Ann", True)
    with pytest.raises(burnish.UsageError, match="no such tag.*its tags are bold, stable"):
        await loop.execute(hello(experiment=under("other")))


async def test_only_the_default_tag_may_be_missing(store):
    loop = MainLoop(agent=agent_of(greet), overrides_store=store)

    plain = await loop.execute(hello())

    assert (plain.output.text, plain.overridden) == ("Say hello. Ann", False)
    assert plain.configuration_hash == OWN.hash


async def test_a_changed_tag_counts_at_once_and_a_stale_one_is_left_out_and_told(store):
    loop = MainLoop(agent=agent_of(greet), overrides_store=store)
    assert (await loop.execute(hello())).output.text == "Say hello. Ann"

    await tag(store, "stable", "Say hi.")
    assert (await loop.execute(hello())).output.text == "Say hi. Ann"

    older = burnish.Configuration.of({"sections": {"system": "Old.", "user": "{{name}}"}})
    await store.delete(namespace="agents", key="greeter", tag="stable")
    await tag(store, "stable", "For the old text.", older)
    stale = await loop.execute(hello())
    assert (stale.output.text, stale.stale) == ("Say hello. Ann", ("system",))


async def test_code_sees_its_experiment_in_threads_tasks_and_coroutines():
    def plain(configuration, item):
        return burnish.current_experiment().name

    async def deep(configuration, item):
        async def inner():
            return str(burnish.current_experiment().flag("fast"))

        return await asyncio.create_task(inner())

    context = under("stable", fast=True)
    for function, said in ((plain, "test"), (deep, "True")):
        loop = MainLoop(agent=agent_of(function))
        assert (await loop.execute(hello(experiment=context))).output.text == said
    assert burnish.current_experiment() is None


async def test_two_requests_at_once_see_each_their_own_experiment():
    async def look(configuration, item):
        await asyncio.sleep(0)
        return burnish.current_experiment().overrides_tag

    loop = MainLoop(agent=agent_of(look))
    answers = await asyncio.gather(
        *(loop.execute(hello(experiment=under(f"t{n}"))) for n in range(5))
    )
    assert [one.output.text for one in answers] == [f"t{n}" for n in range(5)]


async def test_deadlines_and_budgets_are_honoured():
    calls = []

    async def slow(configuration, item):
        calls.append(item["name"])
        await asyncio.sleep(30)

    loop = MainLoop(agent=agent_of(slow))
    now = datetime.now(UTC)
    # Both moments by a sender whose clock is a day off: only what lies between them counts.
    day = timedelta(days=1)
    late = await loop.execute(
        hello(created_at=now - day, deadline=now - day + timedelta(seconds=0.05))
    )
    over = await loop.execute(hello(created_at=now, deadline=now))
    short = await loop.execute(hello(budget=burnish.Budget(max_seconds=0.05)))
    none = await loop.execute(hello(budget=burnish.Budget(max_calls=0)))

    assert [one.error_kind for one in (late, over, short)] == [ErrorKind.TIMEOUT] * 3
    assert "0.05 s" in late.error
    assert "max_calls" in none.error
    assert len(calls) == 2
    with pytest.raises(burnish.UsageError, match="time zone"):
        hello(deadline=datetime(2026, 1, 1, tzinfo=UTC).replace(tzinfo=None))


async def test_what_went_past_the_budget_is_said_with_the_answer():
    def costly(configuration, item):
        usage = burnish.Usage(calls=1, input_tokens=90, output_tokens=20, cost_usd=0.5)
        spending = burnish.Spending.on(burnish.Purpose.AGENT, usage)
        return burnish.AgentOutput(text="done", spending=spending)

    result = await MainLoop(agent=agent_of(costly)).execute(
        hello(budget=burnish.Budget(max_tokens=100, max_cost_usd=1.0))
    )

    assert (result.output.text, result.exceeded) == ("done", "max_tokens")
    assert result.usage.total.cost_usd == 0.5


async def test_the_agents_failure_is_an_answer_and_an_outage_is_tried_again():
    def broken(configuration, item):
        raise ValueError("no such name")

    def away(configuration, item):
        raise UnavailableError(what="the model", why="is away", fix="wait")

    failed = await MainLoop(agent=agent_of(broken)).execute(hello())
    assert failed.error_kind is ErrorKind.AGENT
    assert "no such name" in failed.error

    loop = MainLoop(agent=agent_of(away))
    with pytest.raises(UnavailableError):
        await loop.handle(hello(), Delivery())
    last = await loop.handle(hello(), Delivery(last=True))
    assert last.error_kind is ErrorKind.INFRASTRUCTURE


async def test_requests_by_mailbox_are_answered():
    box = InMemoryMailbox("main-requests")
    loop = MainLoop(agent=agent_of(greet), requests=box)
    running = asyncio.create_task(loop.run(wait_time_seconds=1))

    answer = await ask(box, hello(), timeout=600)

    await loop.shutdown(timeout=5)
    await running
    assert answer.output.text == "Say hello. Ann"
    assert answer.success


def eval_loop(function, box=None, **settings):
    return EvalLoop(
        loop=MainLoop(agent=agent_of(function)),
        requests=box or InMemoryMailbox("eval-requests"),
        scorers=[{"kind": "exact_match", "field": "expected"}],
        rules=RetryRules(step_seconds=0.001),
        **settings,
    )


SAMPLES = samples_of([{"id": f"s{n}", "name": "Ann", "n": n, "expected": "yes"} for n in range(20)])


async def test_samples_come_back_scored():
    def answer(configuration, item):
        if item["n"] == 3:
            raise KeyError("three")
        return "yes" if item["n"] % 2 else "no"

    box = InMemoryMailbox("eval-requests")
    loop = eval_loop(answer, box)
    running = asyncio.create_task(loop.run(wait_time_seconds=1))

    report = await run_eval(box, SAMPLES, under("stable"), timeout=600)

    await loop.shutdown(timeout=5)
    await running
    assert report.pass_rate == 9 / 20  # All samples count, the failed one too.
    assert [one.sample_id for one in report.results] == [one.id for one in SAMPLES]
    third = report.results[3]
    assert (third.success, third.score.value, third.error_kind) == (False, 0.0, ErrorKind.AGENT)
    assert third.experiment_id == "e1"


async def test_a_sample_that_the_outside_fails_is_tried_again_and_at_last_a_failed_result():
    calls = []

    def away(configuration, item):
        calls.append(item.id)
        if item.id == "s1" and len(calls) > 2:
            return "yes"
        raise UnavailableError(what="the model", why="is away", fix="wait")

    box = InMemoryMailbox("eval-requests")
    loop = eval_loop(away, box, concurrency=1)
    running = asyncio.create_task(loop.run(wait_time_seconds=1))
    report = await run_eval(box, SAMPLES[:2], timeout=600)
    await loop.shutdown(timeout=5)
    await running

    assert [one.passed for one in report.results] == [False, True]
    assert report.results[0].error_kind is ErrorKind.INFRASTRUCTURE
    assert calls.count("s0") == 5


async def test_nobody_to_answer_is_said():
    with pytest.raises(UnavailableError, match="burnish worker"):
        await ask(InMemoryMailbox("main-requests"), hello(), timeout=0.05)


def test_several_runs_are_summed_up_as_the_seed_says():
    def report(*passed):
        return EvalReport(tuple(_result(sample, sample.id in passed) for sample in SAMPLES[:3]))

    summary = EvalSummary.from_reports([report("s0", "s1"), report("s0")])

    assert summary.pass_rate == pytest.approx(0.5)
    assert summary.consistently_passed == {"s0"}
    assert EvalSummary.from_reports([]).consistently_passed == frozenset()


def _result(sample, passed):
    request = EvalRequest(sample=sample)
    return EvalResult(
        request_id=request.request_id,
        sample_id=sample.id,
        score=burnish.Score(float(passed), passed=passed),
    )


async def test_samples_that_nobody_answers_are_failed_results_beside_those_that_came(
    monkeypatch,
):
    box = InMemoryMailbox("eval-requests")
    now, received = [0.0], asking._received

    async def until_the_first(replies, seconds):
        found = await received(replies, seconds)
        now[0] = 1e9 if found else 0.0
        return found

    # Time is over once the first answer came.
    monkeypatch.setattr(asking, "_received", until_the_first)
    monkeypatch.setattr(asking, "time", SimpleNamespace(monotonic=lambda: now[0]))

    async def answer_one():
        (message,) = await box.receive(wait_time_seconds=30)
        await message.reply(EvalResult.failed(message.body, "bad", ErrorKind.AGENT))

    answering = asyncio.create_task(answer_one())
    report = await run_eval(box, SAMPLES[:2], timeout=600)
    await answering

    assert sorted(one.error_kind for one in report.results) == [
        ErrorKind.AGENT,
        ErrorKind.INFRASTRUCTURE,
    ]
    with pytest.raises(burnish.UnavailableError, match="2 of 2 requests"):
        await run_eval(box.sibling("nobody"), SAMPLES[:2], timeout=0)


def test_equal_rows_are_one_sample_and_the_log_says_so(caplog):
    assert len(samples_of([{"q": "x"}] * 8)) == 1
    assert "7 of 8 rows equal others" in caplog.text
