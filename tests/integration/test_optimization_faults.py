"""Optimizers that misbehave, owners that fight, budgets that end: each in a clear state."""

import asyncio
import os
import signal
import threading
import time
from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest
from optimization_world import (
    CONCURRENCY,
    Climber,
    World,
    agent_of,
    fingerprint,
    hang_from,
    in_child,
    prepare,
    result_of,
    run,
    suite,
    wait_for,
)

import burnish
from burnish.app.optimize.optimizations import Optimization
from burnish.app.wiring import Workspace
from burnish.config.search import SearchSpec
from burnish.domain import (
    BurnishError,
    ConflictError,
    OptimizationStatus,
    SystemClock,
    UnavailableError,
)
from burnish.optimization.experiments.block_adapter import BlockExperimentAdapter
from burnish.optimization.experiments.local_adapter import LocalExperimentAdapter
from burnish.optimization.orchestrator import Orchestrator
from burnish.storage.engine import failpoints


async def record_of(world):
    async with Workspace.open(world.db) as workspace:
        return await workspace.optimizations.get_optimization(world.optimization_id)


class Broken(Climber):
    """Does something wrong in one method, at its second call."""

    name = "broken"

    def __init__(self, method, misbehave):
        self._method = method
        self._misbehave = misbehave
        self.initialised = 0

    def initialize(self, context):
        self.initialised += 1
        return self._maybe("initialize", super().initialize(context), 0)

    def propose(self, state, history, max_candidates):
        proposals = super().propose(state, history, max_candidates)
        return self._maybe("propose", proposals, state.generation)

    def observe(self, state, trial_results):
        return self._maybe("observe", super().observe(state, trial_results), state.generation)

    def should_stop(self, state, history):
        return self._maybe("should_stop", super().should_stop(state, history), state.generation)

    def _maybe(self, method, value, generation):
        if method == self._method and (generation >= 1 or method == "initialize"):
            return self._misbehave()
        return value


def raises():
    raise KeyError("oops")


METHODS = ("initialize", "propose", "observe", "should_stop")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("misbehave", "words"),
    [(raises, "KeyError: 'oops'"), (lambda: "garbage", "returned a str")],
)
async def test_an_optimizer_that_fails_leaves_a_clear_state(method, misbehave, words, tmp_path):
    await fails_clearly(World(tmp_path), method, misbehave, words)


async def test_an_optimizer_that_hangs_leaves_a_clear_state(tmp_path):
    """All four at once: what is waited for is a time that the other methods never take."""
    hanging = threading.Event()
    for method in METHODS:
        (tmp_path / method).mkdir()

    await asyncio.gather(
        *(
            fails_clearly(
                World(tmp_path / method),
                method,
                hanging.wait,
                "no answer within 3 s",
                timeout_seconds=3.0,
            )
            for method in METHODS
        )
    )
    hanging.set()


async def fails_clearly(world, method, misbehave, words, **options):
    with pytest.raises(BurnishError, match=f"failed in {method}"):
        await run(world, optimizer=Broken(method, misbehave), **options)

    record = await record_of(world)
    assert record.status is OptimizationStatus.FAILED
    assert record.stop_reason == "error"
    assert words in record.framework_error["message"]
    assert record.lease_owner is None


async def test_a_failed_run_goes_on_once_the_optimizer_is_mended(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    expected = fingerprint(await run(World(tmp_path / "a")))
    world = World(tmp_path / "b")
    with pytest.raises(BurnishError):
        await run(world, optimizer=Broken("observe", raises))

    result = await run(world)

    assert fingerprint(result) == expected


async def test_ten_thousand_proposals_are_cut_at_the_limit(tmp_path):
    class Flood(Climber):
        def propose(self, state, history, max_candidates):
            return super().propose(state, history, 10_000)

    result = await run(World(tmp_path), optimizer=Flood(), budget=burnish.Budget(max_trials=4))

    assert len(result.trials) == 5
    assert result.to_json()["rejections"] >= 1


async def test_a_baseline_that_fails_ends_the_run_before_the_optimizer_is_asked(tmp_path):
    world = World(tmp_path)
    optimizer = Broken("never", raises)

    async def down(configuration, item):
        raise UnavailableError(what="the model", why="is down", fix="start it")

    async with Workspace.open(world.db) as workspace:
        optimization = Optimization(
            workspace,
            replace(agent_of(world), run=down),
            suite(),
            SearchSpec(optimizer=optimizer),
            burnish.Budget(max_trials=3),
        )
        world.id_file.write_text((await optimization.create()).id)
        with pytest.raises(UnavailableError, match="baseline"):
            await optimization.run(world.optimization_id)

    record = await record_of(world)
    assert optimizer.initialised == 0
    assert record.status is OptimizationStatus.FAILED
    assert record.framework_error["code"] == "baseline_failed"


async def test_of_two_orchestrators_one_wins_and_the_other_gets_a_conflict(tmp_path):
    world = World(tmp_path, item_seconds=0.01)
    async with Workspace.open(world.db) as workspace:
        first = await prepare(world, workspace)
        second = await prepare(world, workspace)
        world.id_file.write_text((await first.create()).id)

        outcomes = await asyncio.gather(
            first.run(world.optimization_id),
            second.run(world.optimization_id),
            return_exceptions=True,
        )

    conflicts = [one for one in outcomes if isinstance(one, ConflictError)]
    results = [one for one in outcomes if isinstance(one, burnish.OptimizationResult)]
    assert (len(conflicts), len(results)) == (1, 1)
    assert "owner" in str(conflicts[0])


def stop_at_write(world, number, **options):
    """Run, and stop the process as if it had been suspended, after so many writes, within none."""
    passed = Counter()

    def reach(place):
        passed[place.rpartition(":")[2]] += 1
        if passed["after"] >= number and passed["after"] == passed["before"]:
            failpoints.on_reach = None
            hang_from(world, 0)
            os.kill(os.getpid(), signal.SIGSTOP)

    failpoints.on_reach = reach
    asyncio.run(run(world, **options))


def test_an_owner_that_was_stopped_and_replaced_may_not_write_any_more(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    expected = fingerprint(asyncio.run(run(World(tmp_path / "a"))))
    world = World(tmp_path / "b")
    # Not within a write, for then it would keep the database from everybody.
    stopped = in_child(lambda: stop_at_write(world, 20, lease_seconds=1.0))
    assert os.WIFSTOPPED(os.waitpid(stopped, os.WUNTRACED)[1])

    deadline = time.monotonic() + 300
    while ended := wait_for(in_child(lambda: asyncio.run(run(world)))):
        assert ended == ConflictError.exit_code, "only the old owner's lease may be in the way"
        assert time.monotonic() < deadline
        time.sleep(0.1)
    paid = len(world.calls())
    os.kill(stopped, signal.SIGCONT)

    assert wait_for(stopped) == ConflictError.exit_code
    # What it has begun meanwhile came to no end, so that no place was free for more.
    assert len(world.calls()) <= paid + CONCURRENCY
    assert fingerprint(asyncio.run(result_of(world))) == expected


async def test_a_checkpoint_of_another_version_fails_loudly(tmp_path):
    world = World(tmp_path)
    async with Workspace.open(world.db) as workspace:
        optimization = await prepare(world, workspace)
        world.id_file.write_text((await optimization.create()).id)
        lease = await workspace.optimizations.acquire_lease(
            world.optimization_id, owner="old", seconds=30
        )
        await workspace.optimizations.save_checkpoint(lease, {"version": 0, "generation": 3})
        await workspace.optimizations.release_lease(lease)

    with pytest.raises(ConflictError, match="checkpoint has version 0"):
        await run(world)

    record = await record_of(world)
    assert record.status is OptimizationStatus.FAILED
    assert record.framework_error["code"] == "checkpoint_version"


async def test_news_that_come_twice_late_or_for_nothing_change_nothing(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    expected = fingerprint(await run(World(tmp_path / "a")))
    calm = LocalExperimentAdapter.wait_for_news
    turns = []

    async def nervous(self, seconds):
        turns.append(seconds)
        if len(turns) % 3:
            await asyncio.sleep(0)  # news of nothing, again and again
        else:
            await calm(self, 0.01)  # and real news missed, found by polling
            self._news.clear()

    monkeypatch.setattr(LocalExperimentAdapter, "wait_for_news", nervous)

    result = await run(World(tmp_path / "b"))

    assert fingerprint(result) == expected
    assert len(turns) >= 12


async def test_an_experiment_that_vanished_is_an_orphaned_trial(tmp_path, monkeypatch):
    world = World(tmp_path)
    honest = LocalExperimentAdapter.get_status
    lost = []

    async def forgetful(self, experiment_id):
        status = await honest(self, experiment_id)
        if not lost and status is not None and len(self._tasks) > 3:
            lost.append(experiment_id)
        return None if experiment_id in lost else status

    monkeypatch.setattr(LocalExperimentAdapter, "get_status", forgetful)

    result = await run(world, budget=burnish.Budget(max_trials=6))

    orphans = [trial for trial in result.trials if trial.error == "orphaned_experiment"]
    assert [trial.experiment_id for trial in orphans] == lost
    assert orphans[0].status.value == "failed"
    assert result.status is OptimizationStatus.COMPLETED


async def test_what_cannot_be_read_fails_its_trial_and_is_noted_with_the_experiment(
    tmp_path, monkeypatch
):
    world, honest, unreadable = World(tmp_path), LocalExperimentAdapter.get_results, []

    async def garbled(self, experiment_id):
        if len(self._tasks) > 3 and not unreadable:
            unreadable.append(experiment_id)
        if experiment_id in unreadable:
            raise burnish.UsageError(what="the results", why="are garbled", fix="f")
        return await honest(self, experiment_id)

    monkeypatch.setattr(LocalExperimentAdapter, "get_results", garbled)

    result = await run(world, budget=burnish.Budget(max_trials=6))

    [failed] = [trial for trial in result.trials if trial.status.value == "failed"]
    assert failed.error == "aggregation failed: the results: are garbled"
    async with Workspace.open(world.db) as workspace:
        experiment = await workspace.experiments.get_experiment(failed.experiment_id)
    assert experiment.metadata["trial_error"] == failed.error


async def test_cancel_from_elsewhere_ends_the_run_and_keeps_what_there_is(tmp_path):
    world = World(tmp_path)
    hang_from(world, 40)
    task = asyncio.create_task(run(world))
    while len(world.calls()) < 40:
        await asyncio.sleep(0.01)
    async with Workspace.open(world.db) as workspace:
        await workspace.optimizations.request_cancel(world.optimization_id)

    result = await asyncio.wait_for(task, 600)

    assert result.status is OptimizationStatus.CANCELLED
    assert result.stop_reason == "cancelled"
    assert result.baseline.score > 0
    with pytest.raises(burnish.UsageError, match="cancelled"):
        await run(world)


@pytest.mark.parametrize("calls", [8, 222])
async def test_cancel_in_the_baseline_or_the_confirmation_counts_too(calls, tmp_path):
    # The baseline and ten candidates take 220 calls.
    world = World(tmp_path)
    hang_from(world, calls)
    task = asyncio.create_task(run(world, budget=burnish.Budget(max_trials=10)))
    while len(world.calls()) < calls and not task.done():
        await asyncio.sleep(0.01)
    async with Workspace.open(world.db) as workspace:
        await workspace.optimizations.request_cancel(world.optimization_id)

    result = await asyncio.wait_for(task, 600)

    assert result.status is OptimizationStatus.CANCELLED
    assert result.test is None
    assert (result.to_json()["best"] is None) == (calls == 8)


async def test_evaluations_are_never_overshot(tmp_path):
    world = World(tmp_path)

    result = await run(world, budget=burnish.Budget(max_evaluations=130))

    assert result.evaluations <= 130
    assert len(world.calls()) == result.evaluations
    assert result.stop_reason == "budget"
    assert result.test is not None


async def test_a_budget_too_small_for_a_trial_says_so(tmp_path):
    result = await run(World(tmp_path), budget=burnish.Budget(max_evaluations=25))

    assert result.best.candidate_id == result.baseline.candidate_id
    assert result.evaluations <= 25
    assert "no candidate was run" in result.why_not_improved


async def test_time_ends_a_run_in_the_middle_of_a_step(tmp_path, monkeypatch):
    world = World(tmp_path)
    # The baseline's 20 calls are answered; of the first step's, some are and some never.
    hang_from(world, 50)
    honest, sleep = SystemClock.monotonic, SystemClock.sleep

    def passed():
        return 3600 if len(world.calls()) >= 50 else 0

    async def until_late(self, seconds):
        while seconds > 600 and not passed():
            await asyncio.sleep(0.01)
        await sleep(self, seconds - passed())

    # The hour is over as soon as those calls are made.
    monkeypatch.setattr(SystemClock, "monotonic", lambda self: honest(self) + passed())
    monkeypatch.setattr(SystemClock, "sleep", until_late)

    result = await run(world, budget=burnish.Budget(max_seconds=3600))

    assert len(world.calls()) >= 50
    assert result.stop_reason == "timeout"
    assert result.status is OptimizationStatus.COMPLETED
    overdue = [trial for trial in result.trials if trial.status.value == "timeout"]
    assert overdue
    assert {trial.error for trial in overdue} == {"the time of the run was up"}
    assert "cancelled" not in {trial.status.value for trial in result.trials}


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_trial_that_is_cancelled_while_it_starts_ends(tmp_path, monkeypatch, when):
    start = BlockExperimentAdapter.trigger

    async def start_and_cancel(self, request):
        first = request.execution_params["step_index"] == 1
        if first and when == "before":
            await self.cancel(request.experiment_id)
        await start(self, request)
        if first and when == "after":
            await self.cancel(request.experiment_id)

    monkeypatch.setattr(BlockExperimentAdapter, "trigger", start_and_cancel)

    result = await asyncio.wait_for(run(World(tmp_path)), 120)

    assert "cancelled" in {trial.status.value for trial in result.trials}


async def test_a_run_that_is_cancelled_while_it_proposes_ends(tmp_path, monkeypatch):
    world = World(tmp_path)
    hang_from(world, 21)
    propose = Orchestrator._propose

    async def propose_meanwhile(self):
        await self.ask_to_stop()
        await propose(self)

    monkeypatch.setattr(Orchestrator, "_propose", propose_meanwhile)

    result = await asyncio.wait_for(run(world), 600)

    assert result.stop_reason == "cancelled"


async def test_a_jump_of_the_clock_changes_nothing(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    expected = fingerprint(await run(World(tmp_path / "a")))
    honest = SystemClock.now
    calls = []

    def jumpy(self):
        calls.append(1)
        hours = (0, 1, -1)[len(calls) // 20 % 3]
        return honest(self) + timedelta(hours=hours)

    monkeypatch.setattr(SystemClock, "now", jumpy)

    result = await run(World(tmp_path / "b"))

    assert fingerprint(result) == expected
    assert len(calls) > 40


async def test_mini_batches_are_no_trials_and_never_best(tmp_path):
    class Batches(Climber):
        """Tries each idea on two items first; all of them are right on these."""

        def propose(self, state, history, max_candidates):
            proposals = super().propose(state, history, max_candidates)
            if state.generation == 0:
                items = [r.item_id for r in history.item_results(history.trials[0].candidate_id)]
                return [replace(one, item_ids=items[:2]) for one in proposals]
            return [
                burnish.CandidateProposal(
                    configuration=history.candidate(batch.candidate_id).configuration
                )
                for batch in history.mini_batches[:1]
            ]

        def should_stop(self, state, history):
            return burnish.StopDecision(should_stop=state.generation >= 2)

    world = World(tmp_path)

    result = await run(world, optimizer=Batches())

    assert result.to_json()["trials"] == 1
    assert len(result.trials) == 2
    assert result.candidates[result.trials[1].candidate_id].number == 1
    assert len(result.candidates) == 5
    assert all(trial.summary.total_items == 20 for trial in result.trials)


async def test_an_asynchronous_run_refills_free_places(tmp_path):
    world = World(tmp_path)

    result = await run(world, asynchronous=True)

    assert result.to_json()["trials"] == 12
    assert all(trial.counts for trial in result.trials)


async def test_when_nothing_is_better_the_baseline_is_the_result_and_says_why(tmp_path):
    class Worse(Climber):
        def propose(self, state, history, max_candidates):
            return [
                burnish.CandidateProposal(
                    configuration={"sections": {"system": f"{{{{n}}}} beta {state.generation}"}}
                )
            ]

    world = World(tmp_path)
    async with Workspace.open(world.db) as workspace:
        optimization = Optimization(
            workspace,
            replace(agent_of(world), run=lambda configuration, item: "no"),
            suite(),
            SearchSpec(optimizer=Worse()),
            burnish.Budget(max_trials=3),
        )
        result = await optimization.run(await optimization.create())

    assert not result.improved
    assert result.best.candidate_id == result.baseline.candidate_id
    assert result.why_not_improved == "none of the 3 candidates tried scored above the baseline"


async def test_the_same_seed_runs_the_same_search_with_a_cold_or_a_warm_cache(tmp_path):
    world = World(tmp_path)
    first = fingerprint(await run(world, budget=burnish.Budget(max_evaluations=200)))
    paid = len(world.calls())
    world.id_file.unlink()

    second = fingerprint(await run(world, budget=burnish.Budget(max_evaluations=200)))

    assert second == first
    assert len(world.calls()) == paid
