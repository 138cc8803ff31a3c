"""Adapters and repositories of others: runs by them, and mistakes told as theirs."""

import asyncio
import importlib.util
from pathlib import Path

import pytest
from tests.integration.test_own_optimizers import Four, agent, suite

import burnish
from burnish.app.wiring import Workspace

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_repository.py"


class Instant:
    """Answers "x" to everything at once; what a method does otherwise is set by the test."""

    def __init__(self, **otherwise):
        self.requests, self.cancelled = {}, []
        for method, answer in otherwise.items():
            setattr(self, method, answer)

    async def trigger(self, request):
        self.requests.setdefault(request.experiment_id, request)

    async def get_status(self, experiment_id):
        return "completed" if experiment_id in self.requests else None

    async def get_results(self, experiment_id):
        return self.results(self.requests[experiment_id])

    def results(self, request, score=1.0):
        return burnish.RawExperimentResults(
            status="completed",
            results=[
                burnish.ItemResult(item_id=one, score=score, passed=bool(score))
                for one in request.item_ids
            ],
        )

    async def cancel(self, experiment_id):
        self.cancelled.append(experiment_id)


def search(tmp_path, **options):
    def nobody(configuration, item):
        raise AssertionError("the adapter runs the agent")

    budget = burnish.Budget(max_trials=2)
    where = {"db": tmp_path / "b.db", "seed": 1}
    return burnish.optimize(agent(nobody), suite(), Four(), budget, **where, **options)


def test_an_adapter_of_four_methods_runs_everything(tmp_path):
    adapter = Instant()

    result = search(tmp_path, adapter=adapter)

    kinds = [str(one.type) for one in adapter.requests.values()]
    assert kinds == ["trial", "trial", "trial", "regular"]
    first = next(iter(adapter.requests.values()))
    assert first.configuration.sections == {"s": "{{q}}"}
    assert [item.data["q"] for item in first.items] == [
        f"question of validation {n}" for n in range(8)
    ]
    assert (first.agent_name, first.repeats) == ("a", 1)
    assert result.test["items"] == 8
    assert result.to_json()["evaluations"] == 4 * 8


def once(mistake):
    """An adapter's method that does something else than asked for, at its second call."""
    calls = []

    async def method(self, experiment_id):
        calls.append(experiment_id)
        if len(calls) == 2:
            return mistake(self, experiment_id)
        return await getattr(Instant, method.__name__)(self, experiment_id)

    return method


def wrong(method, mistake):
    adapter, misbehave = Instant(), once(mistake)
    misbehave.__name__ = method
    setattr(adapter, method, misbehave.__get__(adapter))
    return adapter


def raises(error):
    def mistake(*_):
        raise error

    return mistake


@pytest.mark.parametrize(
    ("method", "mistake", "words"),
    [
        ("get_results", raises(ValueError("odd")), "ValueError: odd"),
        ("get_results", lambda *_: None, "it returned a NoneType"),
        ("get_results", lambda *_: burnish.RawExperimentResults(status="completed"), "lack 8 of 8"),
        (
            "get_results",
            lambda self, one: self.results(self.requests[one], score=float("nan")),
            "not a finite number",
        ),
        ("get_status", lambda *_: "done", "none of pending"),
    ],
)
def test_a_mistake_of_an_adapter_is_told_as_its_own_and_the_run_goes_on_once_mended(
    method, mistake, words, tmp_path
):
    adapter = wrong(method, mistake)

    with pytest.raises(burnish.BurnishError, match=f"'Instant' failed in {method}") as caught:
        search(tmp_path, adapter=adapter)

    assert (caught.value.code, caught.value.exit_code) == ("adapter_failed", 5)
    assert words in caught.value.why
    result = search(tmp_path, adapter=adapter, resume=asyncio.run(the_one(tmp_path)).id)
    assert [trial.status for trial in result.trials] == ["completed"] * 3


async def the_one(tmp_path):
    async with Workspace.open(str(tmp_path / "b.db")) as workspace:
        (record,) = await workspace.optimizations.list_optimizations()
        return record


def test_what_may_pass_is_tried_again(tmp_path):
    adapter = wrong("get_status", raises(ConnectionResetError("gone")))

    assert len(search(tmp_path, adapter=adapter).trials) == 3


@pytest.mark.parametrize("status", ["failed", "timeout", "cancelled"])
def test_an_experiment_that_ended_without_results_is_a_trial_without_a_score(status, tmp_path):
    ended = burnish.RawExperimentResults(status=status, error="the machine burnt")

    result = search(tmp_path, adapter=wrong("get_results", lambda *_: ended))

    assert [trial.status for trial in result.trials] == ["completed", status, "completed"]
    assert result.trials[1].error == "the machine burnt"


async def test_cancelling_a_run_reaches_the_adapter(tmp_path):
    started = asyncio.Event()

    async def never(experiment_id):
        started.set()
        return "running"

    adapter = Instant(get_status=never)
    search = burnish.optimize_async(agent(), suite(), Four(), db=tmp_path / "b.db", adapter=adapter)
    run = asyncio.create_task(search)
    await started.wait()
    async with Workspace.open(str(tmp_path / "b.db")) as workspace:
        (record,) = await workspace.optimizations.list_optimizations()
        await workspace.optimizations.request_cancel(record.id)

    result = await asyncio.wait_for(run, 600)

    assert result.record.status == "cancelled"
    assert adapter.cancelled == list(adapter.requests)


def memory_repository():
    spec = importlib.util.spec_from_file_location("own_repository", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.MemoryRepository()


def test_a_run_is_kept_and_resumed_by_a_repository_of_ones_own(tmp_path):
    repository = memory_repository()
    adapter = wrong("get_results", raises(ValueError("odd")))
    with pytest.raises(burnish.BurnishError, match="'Instant' failed"):
        search(tmp_path, adapter=adapter, repository=repository)
    ((identity, kept),) = repository.kept.items()
    assert (kept.record.status, kept.lease) == ("failed", None)

    result = search(tmp_path, adapter=adapter, repository=repository, resume=identity)

    assert kept.record.status == "completed"
    assert kept.record.result == result.document
    assert [trial.status for trial in kept.trials.values()] == ["completed"] * 3
    # And the copy is what commands and pages show.
    copy = asyncio.run(the_one(tmp_path))
    assert (copy.id, copy.status, copy.best_score) == (identity, "completed", 1.0)


def test_a_mistake_of_a_repository_is_told_as_its_own(tmp_path):
    repository = memory_repository()
    repository.list_candidates = raises(KeyError("oops"))

    with pytest.raises(burnish.BurnishError, match="failed in list_candidates") as caught:
        search(tmp_path, adapter=Instant(), repository=repository)

    assert (caught.value.code, caught.value.exit_code) == ("repository_failed", 5)
