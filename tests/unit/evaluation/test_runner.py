"""The runner: bounded, cached, saved as it goes, and honest about failures."""

import asyncio

import pytest
from tests.support.memory_experiments import MemoryExperimentRepository

from burnish.domain import (
    AgentOutput,
    Configuration,
    ErrorKind,
    Experiment,
    ExperimentStatus,
    ExperimentType,
    Purpose,
    Spending,
    UnavailableError,
    Usage,
    UsageError,
)
from burnish.evaluation.datasets import Dataset
from burnish.evaluation.gates import CountingGate, OpenGate
from burnish.evaluation.progress import Progress
from burnish.evaluation.runner import ExperimentRunner, RunOptions
from burnish.evaluation.scorers.function_scorer import FunctionScorer
from burnish.evaluation.scorers.scorer_set import ScorerSet
from burnish.evaluation.scorers.text import ExactMatch
from burnish.evaluation.suite import Suite, SuitePolicy
from burnish.support import deadlines

CONFIGURATION = Configuration.of({"sections": {"system": "answer"}})


class FakeAgent:
    """Answers with the item's `answer`; counts calls and how many run at once."""

    name = "fake"
    configuration = CONFIGURATION

    def __init__(self, fingerprint="v1", behave=None):
        self.fingerprint = fingerprint
        self.calls = []
        self.running = 0
        self.most = 0
        self._behave = behave

    async def run(self, configuration, item, *, repeat):
        self.calls.append((item.id, repeat))
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await asyncio.sleep(0)
            if self._behave is not None:
                return await self._behave(item, repeat)
            spending = Spending.on(Purpose.AGENT, Usage(calls=1, cost_usd=0.5))
            return AgentOutput(text=item.data["answer"], spending=spending)
        finally:
            self.running -= 1

    async def close(self):
        pass


def rows(count):
    return [
        {"id": f"i{n}", "n": n, "answer": "yes", "label": "yes" if n % 2 else "no"}
        for n in range(count)
    ]


def suite_of(count=10, *, scorers=None, repeats=1, threshold=1.0):
    return Suite(
        name="suite",
        dataset=Dataset.of(rows(count)),
        scorers=ScorerSet(scorers or [ExactMatch("label")]),
        policy=SuitePolicy(repeats=repeats, pass_threshold=threshold),
    )


class Bench:
    """A repository with a way to run experiments on it."""

    def __init__(self):
        self.repository = MemoryExperimentRepository()
        self.runner = ExperimentRunner(self.repository)
        self.count = 0

    async def run(
        self, agent, suite, *, skip=(), options=None, progress=None, same=None, optimization=None
    ):
        self.count += 1
        experiment = same or Experiment(
            id=f"e{self.count}",
            name="test",
            type=ExperimentType.REGULAR,
            status=ExperimentStatus.PENDING,
            agent_name=agent.name,
            configuration=CONFIGURATION,
            suite_name=suite.name,
            dataset_id=None,
            planned_items=None,
            optimization_id=optimization,
        )
        if same is None:
            await self.repository.create_experiment(experiment)
        return await self.runner.run(
            experiment, agent, suite, suite.items(), options=options, progress=progress, skip=skip
        )

    @property
    def last(self):
        return self.repository.experiments[f"e{self.count}"]


@pytest.fixture
def bench():
    return Bench()


async def test_every_item_runs_once_per_repeat_and_is_scored(bench):
    agent = FakeAgent()

    summary = await bench.run(agent, suite_of(10, repeats=3))

    assert sorted(agent.calls) == sorted((f"i{n}", r) for n in range(10) for r in range(3))
    assert (summary.runs, summary.passed, summary.failed) == (30, 15, 15)
    assert summary.score == 0.5
    assert summary.spending.total == Usage(calls=30, cost_usd=15.0)
    assert bench.last.status is ExperimentStatus.COMPLETED


async def test_no_more_than_the_limit_run_at_once(bench):
    agent = FakeAgent()

    await bench.run(agent, suite_of(50), options=RunOptions(concurrency=7))

    assert agent.most == 7


async def test_a_second_run_pays_for_nothing(bench):
    agent = FakeAgent()
    await bench.run(agent, suite_of(10))

    summary = await bench.run(agent, suite_of(10))

    assert len(agent.calls) == 10
    assert summary.cached == 10
    assert summary.spending.total.calls == 0
    assert summary.score == 0.5


async def test_an_answer_from_the_cache_takes_what_it_took_when_it_was_paid(bench):
    async def behave(item, repeat):
        await asyncio.sleep(0)
        usage = Usage(calls=1, input_tokens=40, output_tokens=2, cost_usd=0.5)
        spending = Spending.on(Purpose.AGENT, usage)
        return AgentOutput(text="yes", spending=spending, latency_ms=1234.0)

    agent, other = FakeAgent(behave=behave), [FunctionScorer(lambda output, item: 0.25)]

    paid = await bench.run(agent, suite_of(4))
    reused = [await bench.run(agent, suite_of(4)) for _ in range(2)]
    rescored = await bench.run(agent, suite_of(4, scorers=other))

    assert len(agent.calls) == 4
    for summary in (paid, *reused, rescored):
        assert (summary.avg_tokens, summary.avg_cost_usd) == (42, 0.5)
        assert summary.avg_latency_ms == 1234.0
    assert {one.spending.total.calls for one in (*reused, rescored)} == {0}


@pytest.mark.parametrize("fingerprint", ["v2", None])
async def test_a_changed_or_unknown_agent_is_never_answered_from_the_cache(bench, fingerprint):
    await bench.run(FakeAgent("v1"), suite_of(4))
    changed = FakeAgent(fingerprint)

    await bench.run(changed, suite_of(4))
    await bench.run(changed, suite_of(4))

    assert len(changed.calls) == (4 if fingerprint else 8)


async def test_a_question_that_stands_twice_in_a_later_chunk_is_asked_once(bench):
    rows = [{"id": f"i{n}", "answer": "yes", "label": "yes"} for n in range(100)]
    suite = Suite(name="s", dataset=Dataset.of(rows), scorers=ScorerSet([ExactMatch("label")]))
    agent = FakeAgent()

    summary = await bench.run(agent, suite, options=RunOptions(concurrency=1))

    assert summary.runs == 100
    assert len(agent.calls) < 40


async def test_the_cache_can_be_turned_off(bench):
    agent = FakeAgent()
    await bench.run(agent, suite_of(4))

    await bench.run(agent, suite_of(4), options=RunOptions(use_cache=False))

    assert len(agent.calls) == 8


async def test_a_changed_scorer_judges_the_cached_outputs_again(bench):
    agent = FakeAgent()
    await bench.run(agent, suite_of(4))

    summary = await bench.run(agent, suite_of(4, scorers=[FunctionScorer(lambda o, i: 0.25)]))

    assert len(agent.calls) == 4
    assert summary.score == 0.25
    assert summary.cached == 4


async def test_a_changed_threshold_counts_for_cached_results_too(bench):
    half = [FunctionScorer(lambda output, item: 0.5, name="half", version="1")]
    agent = FakeAgent()
    await bench.run(agent, suite_of(4, scorers=half, threshold=1.0))

    summary = await bench.run(agent, suite_of(4, scorers=half, threshold=0.5))

    assert len(agent.calls) == 4
    assert summary.passed == 4


async def test_an_error_is_a_failed_item_and_is_not_cached(bench):
    async def behave(item, repeat):
        if item.id in ("i1", "i3"):
            raise ValueError("no idea")
        return AgentOutput(text="yes")

    agent = FakeAgent(behave=behave)
    await bench.run(agent, suite_of(4))
    first = dict(bench.repository.results["e1"])

    summary = await bench.run(agent, suite_of(4))

    assert first["i1", 0].error.kind is ErrorKind.AGENT
    assert "ValueError: no idea (test_runner.py:" in first["i1", 0].error.message
    assert (summary.runs, summary.passed, summary.errors) == (4, 0, 2)
    assert agent.calls[4:] == [("i1", 0), ("i3", 0)]


async def test_an_item_over_its_time_is_a_failed_item(bench):
    async def behave(item, repeat):
        if item.id == "i1":
            await asyncio.sleep(3600)
        return AgentOutput(text="yes")

    await bench.run(
        FakeAgent(behave=behave), suite_of(4), options=RunOptions(item_timeout_seconds=0.01)
    )

    error = bench.repository.results["e1"]["i1", 0].error
    assert error.kind is ErrorKind.TIMEOUT
    assert error.message == "no answer within 0.01 s"


async def test_time_in_a_models_queue_does_not_count_for_the_item(bench):
    async def behave(item, repeat):
        around = next(clock for clock in deadlines._clocks.get())
        with deadlines.waiting():
            assert around.timeout.when() is None
        return AgentOutput(text="yes")

    await bench.run(FakeAgent(behave=behave), suite_of(1))

    assert bench.repository.results["e1"]["i0", 0].error is None


async def test_nothing_but_outside_failures_is_a_failed_experiment(bench):
    async def behave(item, repeat):
        raise UnavailableError(what="w", why="down", fix="f")

    await bench.run(FakeAgent(behave=behave), suite_of(3))

    assert bench.last.status is ExperimentStatus.FAILED


async def test_many_outside_failures_in_a_row_end_the_run_and_keep_what_was_done(bench):
    async def behave(item, repeat):
        if len(agent.calls) > 20:
            raise UnavailableError(what="w", why="down", fix="f")
        return AgentOutput(text="yes")

    agent = FakeAgent(behave=behave)
    with pytest.raises(UnavailableError, match="in a row failed for reasons outside"):
        await bench.run(
            agent, suite_of(500), options=RunOptions(concurrency=4, outage_seconds=0.01)
        )

    results = bench.repository.results["e1"].values()
    assert 16 < sum(result.error is None for result in results) <= 20
    assert len(agent.calls) < 50
    assert bench.last.status is ExperimentStatus.FAILED


async def test_a_failure_that_all_items_share_ends_the_run_at_once(bench):
    async def behave(item, repeat):
        raise UsageError(what="w", why="wrong key", fix="f", code="bad_key")

    agent = FakeAgent(behave=behave)
    with pytest.raises(UsageError, match="wrong key"):
        await bench.run(agent, suite_of(500), options=RunOptions(concurrency=4))

    assert len(agent.calls) <= 4


async def test_a_cancelled_run_saves_what_was_done(bench):
    reached = asyncio.Event()

    async def behave(item, repeat):
        if item.id == "i20":
            reached.set()
            await asyncio.sleep(3600)
        return AgentOutput(text="yes")

    task = asyncio.create_task(
        bench.run(FakeAgent(behave=behave), suite_of(100), options=RunOptions(concurrency=1))
    )
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert len(bench.repository.results["e1"]) == 20
    assert bench.last.status is ExperimentStatus.CANCELLED


async def test_a_gate_that_closes_lets_what_runs_already_end(bench):
    class Turnstile(OpenGate):
        def __init__(self):
            self.admitted = 0
            self.recorded = 0

        def admit(self, item, repeat):
            if self.admitted == 5:
                raise UsageError(what="no more", why="five are enough", fix="pay")
            self.admitted += 1

        def record(self, result):
            self.recorded += 1

    agent, gate = FakeAgent(), Turnstile()

    with pytest.raises(UsageError, match="five are enough"):
        await bench.run(agent, suite_of(40), options=RunOptions(concurrency=8, gate=gate))

    # Whoever was admitted was also paid for: nothing that was spent is lost.
    assert len(agent.calls) == gate.recorded == 5
    assert (await bench.repository.summarise(bench.last.id)).runs == 5


async def test_storage_that_fails_ends_the_run_with_its_error(bench):
    bench.repository.fail_saves = [UnavailableError(what="w", why="disk full", fix="f")]

    with pytest.raises(UnavailableError, match="disk full"):
        await bench.run(FakeAgent(), suite_of(5000))

    assert bench.last.status is ExperimentStatus.FAILED


async def test_what_an_earlier_run_did_is_skipped(bench):
    agent = FakeAgent(fingerprint=None)
    await bench.run(agent, suite_of(10))

    summary = await bench.run(
        agent, suite_of(10), same=bench.last, skip={(f"i{n}", 0) for n in range(8)}
    )

    assert [item for item, _ in agent.calls[10:]] == ["i8", "i9"]
    assert summary.runs == 10


async def test_an_agent_of_unknown_code_is_paid_once_within_a_run_and_again_in_the_next(bench):
    agent = FakeAgent(fingerprint=None)

    for optimization in ("o1", "o1", "o2"):
        await bench.run(agent, suite_of(10), optimization=optimization)

    assert len(agent.calls) == 20


async def test_progress_counts_along(bench):
    progress = Progress(planned=10)

    await bench.run(FakeAgent(), suite_of(10), progress=progress)

    assert (progress.done, progress.passed) == (10, 5)
    assert progress.score.mean == 0.5
    assert progress.answers == {"yes": 10}


def test_a_gate_notes_how_many_runs_are_in_flight_when_each_begins():
    gate = CountingGate()
    with gate.running(), gate.running():
        pass
    with gate.running():
        pass

    assert gate.in_flight.to_json() == {"most": 2, "mean": 1.3}
