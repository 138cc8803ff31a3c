"""Models and databases that are away in the middle of a search: no candidate is blamed for it."""

import asyncio
import contextlib
import re
import sqlite3
import threading
import zlib
from dataclasses import replace
from functools import partial

import pytest
from optimization_world import Climber, World, agent_of, fingerprint, suite
from optimization_world import run as run_world

import burnish
from burnish.app.optimize.optimizations import Optimization
from burnish.app.report.runs.evidence import error_words, is_proven
from burnish.app.wiring import Workspace
from burnish.cli.display.optimizations.results import search_verdict
from burnish.config.search import SearchSpec
from burnish.domain import ExperimentStatus, OptimizationStatus, UnavailableError
from burnish.storage import Database

# Two steps: the baseline takes 20 calls, six trials 120, the confirmation 24.
BUDGET = burnish.Budget(max_trials=6)
run = partial(run_world, budget=BUDGET)


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return fingerprint(asyncio.run(run(World(tmp_path_factory.mktemp("calm")))))


async def run_with(world, answer, **search):
    """Start or resume the world's run with another agent; the record as it then stands."""
    async with Workspace.open(world.db) as workspace:
        optimization = Optimization(
            workspace,
            replace(agent_of(world), run=answer),
            suite(),
            SearchSpec(optimizer=Climber(), seed=5, **search),
            BUDGET,
        )
        if world.optimization_id is None:
            world.remember((await optimization.create()).id)
        try:
            await optimization.run(world.optimization_id)
        except UnavailableError as error:
            return error, await workspace.optimizations.get_optimization(world.optimization_id)
        finally:
            await optimization.close()
    raise AssertionError("it was to stop")


def away_from(world, number):
    """The world's agent, whose model is away from that call on."""
    honest = agent_of(world).run

    async def answer(configuration, item):
        if len(world.calls()) >= number:
            raise UnavailableError(what="the model", why="503", fix="wait")
        return await honest(configuration, item)

    return answer


@pytest.mark.parametrize("calls", [20, 31, 57, 77, 91, 111, 139, 141, 150, 163])
async def test_an_outage_spends_no_trial_and_resume_ends_as_if_there_had_been_none(
    calls, expected, tmp_path
):
    world = World(tmp_path)

    error, record = await run_with(world, away_from(world, calls))

    assert (error.exit_code, error.code) == (4, "endpoint_unavailable")
    assert record.status is OptimizationStatus.FAILED
    assert record.framework_error["retryable"]
    async with Workspace.open(world.db) as workspace:
        trials = await workspace.optimizations.list_trials(record.id)
    assert not [one for one in trials if one.status is ExperimentStatus.FAILED]
    assert fingerprint(await run(world)) == expected


async def test_an_outage_that_ends_in_time_changes_nothing(expected, tmp_path):
    world, refused = World(tmp_path, outage_seconds=60), []

    async def flaky():
        if len(world.calls()) > 100 and len(refused) < 16:
            refused.append(1)
            raise UnavailableError(what="the model", why="503", fix="wait")

    world.on_call = flaky

    result = await run(world)

    assert len(refused) == 16
    assert fingerprint(result) == expected


async def test_a_key_that_is_refused_in_mid_run_is_no_candidates_fault(expected, tmp_path):
    world = World(tmp_path)
    honest = agent_of(world).run

    async def answer(configuration, item):
        if len(world.calls()) >= 100:
            raise burnish.UsageError(what="w", why="401", fix="f", code="bad_key")
        return await honest(configuration, item)

    with pytest.raises(burnish.UsageError, match="401"):
        await run_with(world, answer)

    assert fingerprint(await run(world)) == expected


@pytest.mark.parametrize("calls", [5, 25, 45, 60, 80, 110, 125, 139, 145, 160])
async def test_a_database_that_is_locked_too_long_ends_the_run_and_resume_goes_on(
    calls, expected, tmp_path, monkeypatch
):
    """Whatever is written next fails, its end included: it used to run for ever."""
    world = World(tmp_path)
    honest, free, started = agent_of(world).run, threading.Event(), []

    def lock():
        other = sqlite3.connect(world.db, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        locked.set()
        free.wait(120)
        other.execute("ROLLBACK")
        other.close()

    locked, holder = threading.Event(), threading.Thread(target=lock, daemon=True)

    async def answer(configuration, item):
        if len(world.calls()) >= calls and not started:
            started.append(holder.start())
            await asyncio.to_thread(locked.wait, 60)
        return await honest(configuration, item)

    with monkeypatch.context() as patience:
        patience.setattr(Database, "open", partial(Database.open, patience_seconds=0.2))
        try:
            error, _ = await asyncio.wait_for(run_with(world, answer), 600)
        finally:
            free.set()
            holder.join(60)

    assert (error.exit_code, error.code) == (4, "database_unavailable")
    assert fingerprint(await run(world)) == expected


def draw(text, of):
    return zlib.crc32(text.encode()) % of


class Other:
    """Proposes another wording once, and then nothing."""

    name = "other"

    def initialize(self, context):
        return burnish.OptimizerState()

    def propose(self, state, history, most):
        return [burnish.CandidateProposal(configuration={"sections": {"s": "Other {{q}}"}})]

    def observe(self, state, trials):
        return burnish.OptimizerState(generation=state.generation + 1)

    def should_stop(self, state, history):
        return burnish.StopDecision(should_stop=state.generation > 0)


def optimize_with(answer, tmp_path, **options):
    return burnish.optimize(
        burnish.Agent(
            name="a",
            configuration={"sections": {"s": "Base {{q}}"}},
            run=answer,
            outage_seconds=0.1,
        ),
        burnish.Suite(
            dataset=[{"q": f"q{n}", "expected": "right"} for n in range(200)],
            scorers=["exact_match"],
            split={"train": 0.1, "validation": 0.4, "test": 0.5},
        ),
        optimizer=Other(),
        db=str(tmp_path / "proof.db"),
        **options,
    )


def test_answers_that_never_came_are_counted_and_prove_nothing(tmp_path):
    """Both prompts are equally good; a quarter of the baseline's calls are refused."""

    def answer(configuration, item):
        base = configuration["sections"]["s"].startswith("Base")
        if base and draw(item["q"], 4) == 0:
            raise UnavailableError(what="endpoint", why="503", fix="wait")
        right = draw("a" + item["q"], 10) < (7 if base else 9)
        return "right" if right else "wrong"

    result = optimize_with(answer, tmp_path)

    trials = result.trials
    assert trials[0].summary.missing_items > 5
    assert trials[1].summary.missing_items == 0
    improvement = result.document["improvement"]
    assert improvement["missing"] + improvement["items"] == 100
    assert improvement["missing"] > 5
    assert not is_proven(result.document)
    words = " ".join(error_words(result.document))
    assert "pairs were left out of the comparison" in words
    assert "for reasons outside it" in words
    assert search_verdict(result.document).plain.startswith(("not proven", "not better"))


ROWS = [{"q": f"q{n}"} for n in range(40)]


@pytest.mark.parametrize("broken", ["agent", "scorer", "judge"])
def test_what_always_fails_is_told_at_the_baseline_and_runs_once_it_is_mended(broken, tmp_path):
    state = {"broken": True, "calls": 0}

    def answer(configuration, item):
        state["calls"] += 1
        if broken == "agent" and state["broken"]:
            raise RuntimeError("agent is broken")
        return "right"

    def score(output, item):
        if broken == "scorer" and state["broken"]:
            raise RuntimeError("scorer is broken")
        return 1.0 if "Base" not in output else 0.0

    def verdict(prompt):
        return "judge is broken" if state["broken"] else '{"score": 1, "reason": "fine"}'

    judge = {"kind": "judge", "criteria": "Right.", "model": verdict}

    def search(**options):
        return burnish.optimize(
            burnish.Agent(name="a", configuration={"sections": {"s": "Base {{q}}"}}, run=answer),
            burnish.Suite(dataset=ROWS, scorers=[judge if broken == "judge" else score]),
            optimizer=Other(),
            db=str(tmp_path / "broken.db"),
            **options,
        )

    with pytest.raises(burnish.UnavailableError) as stopped:
        search()
    words = "judge: .*no usable verdict" if broken == "judge" else f"{broken} is broken"
    assert re.search(rf"commonest, (\d+) of \1: .*{words}", str(stopped.value))
    spent = state["calls"]
    assert spent <= 40

    [record] = stored_runs(tmp_path / "broken.db")
    state["broken"] = False
    result = search(resume=record[-8:])

    assert result.baseline.score == 1.0


def stored_runs(db):
    with contextlib.closing(sqlite3.connect(db)) as connection:
        return [one for (one,) in connection.execute("select id from optimizations")]
