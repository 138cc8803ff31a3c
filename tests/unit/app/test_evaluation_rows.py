"""Single runs of an evaluation in Python, and what is told of what they took."""

from __future__ import annotations

import asyncio
import json

import pytest

import burnish
from burnish.app.evaluate.evaluations import Evaluation
from burnish.app.wiring import Workspace
from burnish.domain import ExperimentStatus, ModelResponse, PaidAnswerError, Usage, UsageError


class Paid:
    """A model whose calls cost something; the first answers of each prompt may be unusable."""

    name, fingerprint = "paid", "paid@1"

    def __init__(self, unusable=0):
        self.asked = []
        self._unusable = unusable

    async def complete(self, request):
        text = request.messages[-1].content
        self.asked.append(text)
        usage = Usage(calls=1, input_tokens=10, output_tokens=1, cost_usd=0.01)
        if self.asked.count(text) <= self._unusable:
            raise PaidAnswerError(what="no use", why="half an answer", fix="wait", usage=usage)
        return ModelResponse(text="x", usage=usage)

    async def close(self):
        pass


def agent(**options):
    return burnish.Agent(name="a", configuration={"sections": {"user": "{{q}}"}}, **options)


async def test_a_result_has_every_run_with_its_rounds_also_where_a_loop_runs(tmp_path):
    def judged(prompt):
        good = "better" in prompt
        return json.dumps({"score": 1.0 if good else 0.4, "reason": "fine" if good else "curt"})

    result = await burnish.evaluate_async(
        agent(model=lambda _: "draft"),
        burnish.Suite(
            dataset=[{"q": "one"}, {"q": "two"}],
            scorers=[{"kind": "judge", "criteria": "Polite.", "model": judged}],
            refine={"model": lambda _: "better", "limit": 2},
        ),
        db=str(tmp_path / "rows.db"),
    )

    first, second = result.rows
    assert (first["input"], second["input"]) == ({"q": "one"}, {"q": "two"})
    assert (first["output"], first["score"], first["passed"]) == ("better", 1.0, True)
    assert [one["reason"] for one in first["rounds"]] == ["curt", "fine"]
    assert first["scores"][0]["reason"] == "fine"


def test_latency_is_what_the_model_says_and_a_cost_that_nobody_reports_is_unknown(tmp_path):
    class Slow:
        name, fingerprint = "slow", None

        async def complete(self, request):
            return ModelResponse(text="x", latency_ms=1234.0)

        async def close(self):
            pass

    rows = burnish.Suite(dataset=[{"q": "x", "expected": "x"}], scorers=["exact_match"])

    told = burnish.evaluate(agent(model=Slow()), rows, db=str(tmp_path / "told.db"))
    own = burnish.evaluate(agent(run=lambda *_: "x"), rows, db=str(tmp_path / "own.db"))

    assert told.to_json()["avg_latency_ms"] == 1234.0
    assert told.usage["cost_usd"] == 0.0
    assert (own.usage["calls"], own.usage["cost_usd"]) == (0, None)


def rows(number):
    return [{"q": f"q{n}", "expected": "x"} for n in range(number)]


@pytest.mark.parametrize(
    ("limits", "made", "status"),
    [
        ({"max_evaluations": 3}, 3, "cancelled"),
        ({"max_calls": 4}, 4, "cancelled"),
        ({"max_cost_usd": 0.02}, 2, "cancelled"),
        ({"max_seconds": 0.0}, 0, "timeout"),
        ({"max_evaluations": 10}, 10, "completed"),
    ],
)
def test_a_budget_ends_an_evaluation_that_says_so_and_goes_on(tmp_path, limits, made, status):
    database, model = str(tmp_path / "budget.db"), Paid()
    suite = burnish.Suite(dataset=rows(10), scorers=["exact_match"])

    result = burnish.evaluate(
        agent(model=model, concurrency=1), suite, db=database, budget=burnish.Budget(**limits)
    )

    assert (result.items, result.experiment.status.value) == (made, status)
    assert any(f"{made} of 10 runs" in one for one in result.warnings) == (made < 10)
    assert result.experiment.metadata["budget"] == limits

    async def resume(**more):
        async with Workspace.open(database) as workspace:
            evaluation = Evaluation(workspace, agent(model=model, concurrency=1), suite)
            return await evaluation.resume(result.experiment_id, **more)

    if made == 3:
        # What was run before counts.
        again = asyncio.run(resume(budget=burnish.Budget(max_evaluations=5)))
        assert (again.items, again.experiment.status) == (5, ExperimentStatus.CANCELLED)
        whole = asyncio.run(resume())
        assert (whole.items, whole.warnings, len(model.asked)) == (10, (), 10)
        assert whole.experiment.metadata["error"] is None


@pytest.mark.parametrize(
    ("model", "limits", "code"),
    [
        ("openai/nobody", {"max_cost_usd": 1.0}, "unknown_price"),
        (str, {"max_trials": 1}, "invalid_budget"),
    ],
)
def test_limits_that_cannot_be_kept_are_refused_before_anything_is_paid(
    tmp_path, monkeypatch, model, limits, code
):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    suite = burnish.Suite(dataset=rows(1), scorers=["exact_match"])

    with pytest.raises(UsageError) as refused:
        burnish.evaluate(
            agent(model=model), suite, db=str(tmp_path / "x.db"), budget=burnish.Budget(**limits)
        )

    assert refused.value.code == code


@pytest.mark.parametrize("refine", [None, {"model": lambda _: "y", "limit": 1}])
def test_a_judge_of_no_weight_that_never_answers_fails_nothing_and_is_told(tmp_path, refine):
    def good(_):
        return json.dumps({"score": 1.0, "reason": "fine", "pass": True})

    result = burnish.evaluate(
        agent(model=lambda _: "x"),
        burnish.Suite(
            dataset=rows(4),
            scorers=[
                {"kind": "judge", "criteria": "Polite.", "model": good},
                {
                    "kind": "judge",
                    "criteria": "Short.",
                    "model": lambda _: "dunno",
                    "weight": 0.0,
                    "name": "curt",
                },
            ],
            refine=refine,
        ),
        db=str(tmp_path / "weightless.db"),
    )

    assert (result.experiment.status, result.score) == (ExperimentStatus.COMPLETED, 1.0)
    assert (result.errors, result.failed) == (0, 0)
    if refine is None:
        told = [one for one in result.warnings if "curt" in one]
        assert "no verdict on 4 of 4 runs" in told[0]
        assert "usable verdict" in told[0]


def test_answers_that_were_paid_for_and_of_no_use_are_counted(tmp_path):
    result = burnish.evaluate(
        agent(model=Paid(unusable=1)),
        burnish.Suite(dataset=rows(3), scorers=["exact_match"]),
        db=str(tmp_path / "paid.db"),
    )

    assert (result.score, result.usage["calls"]) == (1.0, 6)
    assert result.usage["cost_usd"] == pytest.approx(0.06)


def test_unusable_answers_of_a_judge_and_of_a_refiner_are_counted(tmp_path):
    def curt(_):
        return json.dumps({"score": 0.4, "reason": "curt", "pass": False})

    result = burnish.evaluate(
        agent(model=lambda _: "x"),
        burnish.Suite(
            dataset=rows(2),
            scorers=[{"kind": "judge", "criteria": "Polite.", "model": curt}],
            refine={"model": Paid(unusable=99), "limit": 1},
        ),
        db=str(tmp_path / "refined.db"),
    )
    unjudged = burnish.evaluate(
        agent(model=lambda _: "x"),
        burnish.Suite(
            dataset=rows(1),
            scorers=[{"kind": "judge", "criteria": "Polite.", "model": Paid(unusable=99)}],
        ),
        db=str(tmp_path / "judged.db"),
    )

    assert result.usage["by_purpose"]["refine"]["calls"] == 2
    assert unjudged.usage["by_purpose"]["judge"]["calls"] >= 1


async def test_calls_of_an_interrupted_attempt_count_once_the_cache_answers_them(tmp_path):
    class Judged:
        name, fingerprint, away = "judged", None, True

        async def score(self, output, item):
            if self.away and item.data["q"] == "q2":
                # As a kill: what was paid for is never saved.
                raise UsageError(what="no", why="no", fix="no", code="bad_key")
            return burnish.Score(1.0)

    model, scorer = Paid(), Judged()
    suite = burnish.Suite(dataset=rows(4), scorers=[scorer])
    async with Workspace.open(str(tmp_path / "cut.db")) as workspace:
        evaluation = Evaluation(workspace, agent(model=model, concurrency=1), suite)
        identity = await evaluation.create()
        with pytest.raises(UsageError):
            await evaluation.resume(identity)
        saved = (await workspace.experiments.summarise(identity)).spending.total.calls
        scorer.away = False
        result = await evaluation.resume(identity)
        other = await evaluation.run()

    assert (saved, len(model.asked)) == (2, 4)
    assert result.usage["calls"] == 4, "also the call whose result was lost"
    assert other.usage["calls"] == 0, "what another experiment paid for is not paid again"


@pytest.mark.parametrize("place", ["agent", "scorer"])
def test_a_cancellation_from_within_a_function_is_its_error_and_no_missing_run(tmp_path, place):
    async def gives_up(*_):
        raise asyncio.CancelledError

    fails = agent(run=gives_up) if place == "agent" else agent(model=lambda _: "x")
    scorers = ["exact_match"] if place == "agent" else ["exact_match", gives_up]

    result = burnish.evaluate(
        fails, burnish.Suite(dataset=rows(2), scorers=scorers), db=str(tmp_path / "gone.db")
    )

    assert (result.items, result.errors) == (2, 2)
    assert result.experiment.status is ExperimentStatus.FAILED


@pytest.mark.parametrize(("suite", "rounds", "passed"), [(None, 0, True), (0.9, 1, False)])
def test_a_prompt_has_a_refine_threshold_of_its_own_where_the_suite_sets_none(
    tmp_path, suite, rounds, passed
):
    asked = []

    class Draft(Paid):
        async def complete(self, request):
            asked.append(request.parameters)
            return await super().complete(request)

    def judged(_):
        return json.dumps({"score": 0.6, "reason": "curt"})

    configuration = {"sections": {"user": "{{q}}"}, "parameters": {"refine_threshold": 0.5}}
    result = burnish.evaluate(
        burnish.Agent(name="a", configuration=configuration, model=Draft()),
        burnish.Suite(
            dataset=rows(1),
            scorers=[{"kind": "judge", "criteria": "Polite.", "model": judged}],
            refine={"model": lambda _: "y", "limit": 1, "threshold": suite},
        ),
        db=str(tmp_path / "own.db"),
    )

    assert asked == [{}], "the model is not told"
    assert result.experiment.metadata["refine"]["threshold"] == (suite or 0.5)
    assert (len(result.rows[0]["rounds"]) - 1, result.rows[0]["passed"]) == (rounds, passed)


def test_the_total_cost_of_a_run_whose_agent_reports_no_usage_is_unknown(tmp_path):
    suite = burnish.Suite(dataset=rows(4), scorers=["exact_match"])

    def total(**how):
        database = str(tmp_path / f"{next(iter(how))}.db")
        budget = burnish.Budget(max_trials=1)
        return burnish.optimize(agent(**how), suite, "edits", budget, 1, db=database).usage

    assert total(run=lambda *_: "x")["cost_usd"] is None
    assert total(model=Paid())["cost_usd"] > 0
