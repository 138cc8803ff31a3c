"""Single runs of an evaluation in Python, and what is told of what they took."""

from __future__ import annotations

import json

import burnish


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
