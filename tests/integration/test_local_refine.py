"""Refinement on the embedded model: it answers, it judges, and it writes answers anew."""

import asyncio

import burnish
from burnish.app.wiring import Workspace
from burnish.domain import RoundEnd

MODEL = "local/smollm2-135m"


async def rounds_of(database, experiment_id):
    async with Workspace.open(str(database)) as workspace:
        found = await workspace.experiments.get_rounds(experiment_id, item_ids=["rain"])
        return found["rain", 0]


def test_one_real_model_takes_all_three_roles(tmp_path):
    result = burnish.evaluate(
        burnish.Agent(
            name="poet",
            configuration={
                "sections": {"system": "One short line.", "user": "{{ask}}"},
                "parameters": {"max_tokens": 8, "temperature": 0},
            },
            model=MODEL,
        ),
        burnish.Suite(
            dataset=[{"id": "rain", "ask": "What is rain?"}],
            scorers=[
                {
                    "kind": "judge",
                    "model": MODEL,
                    "criteria": "It is one line of verse.",
                    "parameters": {"max_tokens": 48, "temperature": 0},
                },
                # Such a small judge is soon content; this one never is.
                {"kind": "contains", "text": "no such words"},
            ],
            refine={"model": MODEL, "limit": 1, "parameters": {"max_tokens": 8}},
        ),
        db=tmp_path / "w.db",
    )

    first, second = asyncio.run(rounds_of(tmp_path / "w.db", result.experiment.id))
    assert (first.number, second.number, second.ended) == (0, 1, RoundEnd.LIMIT)
    assert first.output.text != second.output.text
    assert all(one.judged and one.model == MODEL for one in (first, second))
    spent = result.summary.spending.by_purpose
    calls = {name: (one.calls, one.output_tokens > 0) for name, one in spent.items()}
    assert calls == {"agent": (1, True), "judge": (2, True), "refine": (1, True)}
