"""Single runs of an evaluation in Python, and what is told of what they took."""

from __future__ import annotations

import json

import burnish
from burnish.domain import ModelResponse


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
