"""The optimize loop gives back what it cannot finish, and answers what cannot succeed."""

import asyncio
import contextlib
from uuid import uuid4

import pytest

import burnish
from burnish.domain import InvariantError, UnavailableError, UsageError
from burnish.evaluation.agents import PythonAgent
from burnish.optimizers import MechanicalCompressStrategy
from burnish.overrides import (
    LocalPromptOverridesStore,
    PromptOverride,
    SectionOverride,
    descriptor_of,
)
from burnish.runtime import (
    EvalLoop,
    InMemoryMailbox,
    LoopGroup,
    MainLoop,
    OptimizationReport,
    OptimizeLoop,
    OptimizeRequest,
    OptimizeResult,
    ask,
    samples_of,
)
from burnish.runtime.loops import RetryRules

DESCRIPTOR = descriptor_of("router", {"sections": {"system": "Route.", "user": "{{text}}"}})


class Work:
    """An optimizer for requests, made of a function."""

    def __init__(self, function):
        self._function = function
        self.calls = []

    async def optimize(self, request):
        self.calls.append(request.request_id)
        return await self._function(request)


def result_of(request):
    report = OptimizationReport(
        experiment_id=str(request.request_id),
        prompt_ns="agents",
        prompt_key="router",
        baseline_pass_rate=1.0,
    )
    return OptimizeResult(request_id=request.request_id, report=report)


def loop_on(box, function):
    work = Work(function)
    rules = RetryRules(step_seconds=0.01)
    return OptimizeLoop(optimizer=work, requests=box, rules=rules), work


async def served(box, function, request):
    loop, work = loop_on(box, function)
    running = asyncio.create_task(loop.run(wait_time_seconds=1))
    answer = await ask(box, request, timeout=600)
    await loop.shutdown(timeout=5)
    await running
    return answer, work


@pytest.fixture
def box():
    return InMemoryMailbox("optimize-requests")


async def test_a_report_comes_back(box):
    async def work(request):
        return result_of(request)

    request = OptimizeRequest(descriptor=DESCRIPTOR, request_id=uuid4())
    answer, _ = await served(box, work, request)

    assert answer.request_id == request.request_id
    assert not answer.report.has_modifications
    assert answer.error is None


@pytest.mark.parametrize("kind", [UsageError, InvariantError])
async def test_what_cannot_succeed_is_answered_once(box, kind):
    async def work(request):
        raise kind(what="it", why="cannot be", fix="do not")

    answer, done = await served(box, work, OptimizeRequest(descriptor=DESCRIPTOR))

    assert "cannot be" in answer.error
    assert (answer.report.experiment_id, answer.report.prompt_key) == ("failed", "router")
    assert len(done.calls) == 1


async def test_an_outage_is_tried_again_under_the_same_id(box):
    seen = []

    async def work(request):
        seen.append(request.request_id)
        if len(seen) < 3:
            raise UnavailableError(what="the database", why="is away", fix="wait")
        return result_of(request)

    answer, _ = await served(box, work, OptimizeRequest(descriptor=DESCRIPTOR))

    assert answer.error is None
    assert len(seen) == 3
    assert len(set(seen)) == 1


async def test_workers_of_another_database_are_told_to_the_sender_at_once(box):
    async def work(request):
        raise UnavailableError(what="w", why="y", fix="the same --db", code="other_database")

    answer, optimizer = await served(box, work, OptimizeRequest(descriptor=DESCRIPTOR))

    assert "the same --db" in answer.error
    assert len(optimizer.calls) == 1


async def test_a_stop_gives_the_request_back_at_once_for_another_worker(box):
    left = asyncio.Event()

    async def endless(request):
        try:
            await asyncio.sleep(7200)
        finally:
            left.set()

    loop, work = loop_on(box, endless)
    running = asyncio.create_task(loop.run(wait_time_seconds=1))
    asking = asyncio.create_task(ask(box, OptimizeRequest(descriptor=DESCRIPTOR), timeout=600))
    while not work.calls:
        await asyncio.sleep(0.01)
    async with asyncio.timeout(600):  # And not the hour of grace.
        assert not await loop.shutdown(timeout=3600)
        await running

    async def quick(request):
        return result_of(request)

    other, _ = loop_on(box, quick)
    taking = asyncio.create_task(other.run(wait_time_seconds=1))
    answer = await asking
    await other.shutdown(timeout=5)
    await taking
    assert left.is_set()
    assert answer.error is None


SECTIONS = {
    "system": "Please note that you are a very helpful assistant.\nRefunds go to billing.",
    "user": "{{text}}",
}


def route(configuration, item):
    if burnish.current_experiment().flag("away"):
        raise UnavailableError(what="no answer", why="the model is away", fix="wait")
    return "billing" if "refund" in configuration["sections"]["system"].lower() else "nobody"


@contextlib.asynccontextmanager
async def three_loops(folder, run=route):
    agent = PythonAgent(
        name="router", configuration=burnish.Configuration.of({"sections": SECTIONS}), run=run
    )
    store = LocalPromptOverridesStore(folder)
    samples, requests = InMemoryMailbox("eval-requests"), InMemoryMailbox("optimize-requests")
    main = MainLoop(agent=agent, overrides_store=store)
    scorers = [{"kind": "exact_match", "field": "team"}]
    evaluating = EvalLoop(
        loop=main, requests=samples, scorers=scorers, rules=RetryRules(step_seconds=0)
    )
    optimizing = OptimizeLoop(
        strategy=MechanicalCompressStrategy(min_section_tokens=1),
        adapter=agent,
        overrides_store=store,
        eval_requests=samples,
        requests=requests,
        rules=RetryRules(step_seconds=0),
        max_deliveries=2,
    )
    group = LoopGroup([evaluating, optimizing])
    serving = asyncio.create_task(group.serve())
    try:
        yield requests, store, descriptor_of("router", agent.configuration)
    finally:
        group.stop()
        await serving


ROWS = samples_of([{"text": f"a refund, {n}", "team": "billing"} for n in range(5)])


async def test_a_strategy_an_adapter_a_store_and_eval_requests_make_an_optimize_loop(tmp_path):
    async with three_loops(tmp_path) as (requests, store, descriptor):
        request = OptimizeRequest(descriptor=descriptor, dataset=ROWS, eval_runs=2)
        answer = await ask(requests, request, timeout=600)
        tags = await store.list_tags(namespace="agents", key="router")

    assert answer.error is None
    (change,) = answer.report.modifications
    assert change.proposed_body == "Refunds go to billing."
    assert change.original_hash == descriptor.hashes["system"]
    assert (answer.report.regressions, tags) == ((), [])
    assert answer.report.tokens_after < answer.report.tokens_before


async def test_the_tag_that_an_agent_is_told_can_be_resolved_in_the_shared_store(tmp_path):
    told = {}

    async def look(configuration, item):
        tag = burnish.current_experiment().overrides_tag
        store = LocalPromptOverridesStore(tmp_path)
        own = descriptor_of("router", {"sections": SECTIONS})
        found = (await store.resolve(own, tag=tag)).apply(
            burnish.Configuration.of({"sections": SECTIONS})
        )
        told[tag] = found.sections["system"] == configuration["sections"]["system"]
        return route(configuration, item)

    async with three_loops(tmp_path, look) as (requests, _, descriptor):
        request = OptimizeRequest(descriptor=descriptor, dataset=ROWS, eval_runs=1)
        answer = await ask(requests, request, timeout=600)

    assert answer.error is None
    assert len(told) > 1
    assert all(told.values())


async def test_a_result_is_deployed_as_it_was_tried(tmp_path):
    async with three_loops(tmp_path) as (requests, store, descriptor):
        longer = "Thank you very much for your help.\nA refund goes to billing."
        base = override(descriptor, "system", longer)
        await store.upsert(
            descriptor,
            PromptOverride.of(
                descriptor, "prod", [base, override(descriptor, "user", "Ticket: {{text}}")]
            ),
        )
        request = OptimizeRequest(
            descriptor=descriptor, dataset=ROWS, eval_runs=1, baseline_tag="prod"
        )
        made = (await ask(requests, request, timeout=600)).report.modifications
        await burnish.apply_modifications(store, descriptor, made, tag="next")
        found = await store.resolve(descriptor, tag="next")
        # Somebody changes what it was tried with.
        await store.store(descriptor, override(descriptor, "user", "Say: {{text}}"), tag="prod")
        for tag in ("later", "prod"):
            with pytest.raises(burnish.ConflictError, match="changed since"):
                await burnish.apply_modifications(store, descriptor, made, tag=tag)
        await burnish.apply_modifications(store, descriptor, made, tag="later", built_on="prod")
        meant = await store.resolve(descriptor, tag="later")

    assert {path: one.body for path, one in found.sections.items()} == {
        "system": "A refund goes to billing.",
        "user": "Ticket: {{text}}",
    }
    assert meant.sections["user"].body == "Say: {{text}}"


def override(descriptor, path, body):
    return SectionOverride(
        path=path, expected_hash=descriptor.section(path).content_hash, body=body
    )


async def test_such_a_loop_needs_rows_and_takes_no_outage_for_a_regression(tmp_path):
    async with three_loops(tmp_path) as (requests, _, descriptor):
        without = await ask(requests, OptimizeRequest(descriptor=descriptor), timeout=600)
        away = OptimizeRequest(descriptor=descriptor, dataset=ROWS, flags={"away": True})
        answer = await ask(requests, away, timeout=600)

    assert "no rows" in without.error
    assert "failed outside the agent" in answer.error


@pytest.mark.parametrize("runs", [0, 100_000])
async def test_a_number_of_runs_that_cannot_be_is_refused_by_its_name(runs):
    box = InMemoryMailbox("optimize-requests")
    loop, work = loop_on(box, None)
    running = asyncio.create_task(loop.run(wait_time_seconds=1))

    answer = await ask(box, OptimizeRequest(descriptor=DESCRIPTOR, eval_runs=runs), timeout=600)
    await loop.shutdown()
    await running

    assert f"eval_runs is {runs}" in answer.error
    assert not work.calls


def test_half_of_what_a_compression_needs_is_refused():
    with pytest.raises(UsageError, match="neither an optimizer nor all"):
        OptimizeLoop(requests=InMemoryMailbox("optimize-requests"), strategy=object())
