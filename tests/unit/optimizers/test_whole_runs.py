"""Whole optimizations: the same seed gives the same run, one step at a time and in async mode."""

from __future__ import annotations

import random
import re

import pytest

import burnish
from burnish.optimizers import Auto, Bootstrap, Evolve, Gepa, MetaPrompt, Parameters


def route(configuration, item):
    words = len(configuration["sections"]["system"].split())
    near = abs(configuration["parameters"]["temperature"] - 0.4) < 0.2
    worth = 4 + words // 3 + len(configuration["examples"]) + 3 * near
    return "yes" if item["n"] * 7 % 20 < worth else "no"


def model(prompt: str) -> str:
    """Adds a rule that depends on the prompt alone; one answer in five is of no use."""
    chance = random.Random(prompt)
    if chance.random() < 0.2:
        return "I'd rather not."
    text = re.search(r"```\n(.*?)\n```", prompt, re.DOTALL)[1]
    return f"Why not.\n```\n{text}\nRule {chance.randrange(100)} is good.\n```"


MAKERS = {
    "meta_prompt": lambda: MetaPrompt(model=model),
    "evolve": lambda: Evolve(model=model),
    "evolve without a model": Evolve,
    "bootstrap": Bootstrap,
    "parameters": Parameters,
    "auto": Auto,
}


def run(make, db, trials=9, **options) -> burnish.OptimizationResult:
    return burnish.optimize(
        agent=burnish.Agent(
            name="router",
            configuration={
                "sections": {"system": "Route it.", "user": "{{text}}"},
                "parameters": {"temperature": 0.0},
            },
            run=route,
            version="1",
        ),
        suite=burnish.Suite(
            dataset=[{"n": n, "text": f"ticket {n}", "label": "yes"} for n in range(50)],
            scorers=[{"kind": "exact_match", "field": "label"}],
            split={"train": 0.3, "validation": 0.4, "test": 0.3},
        ),
        optimizer=make(),
        budget=options.pop("budget", burnish.Budget(max_trials=trials)),
        space={"parameters": {"temperature": {"low": 0, "high": 1}}},
        db=db,
        **{"seed": 5, **options},
    )


@pytest.mark.parametrize("name", MAKERS)
def test_the_same_seed_gives_the_same_run(name, tmp_path):
    first, again = (run(MAKERS[name], tmp_path / f"{n}.db") for n in (1, 2))

    assert [(one.configuration.hash, one.rationale) for one in first.candidates.values()] == [
        (one.configuration.hash, one.rationale) for one in again.candidates.values()
    ]
    assert len(first.trials) == 10
    assert first.best.score > first.baseline.score


def test_without_a_seed_each_run_draws_its_own_and_says_which(tmp_path):
    drawn = [run(Parameters, tmp_path / f"{n}.db", trials=2, seed=None) for n in (1, 2)]
    again = run(Parameters, tmp_path / "3.db", trials=2, seed=drawn[0].seed)

    assert drawn[0].seed != drawn[1].seed
    assert drawn[0].to_json()["seed"] == drawn[0].seed == again.seed
    assert [one.configuration.hash for one in again.candidates.values()] == [
        one.configuration.hash for one in drawn[0].candidates.values()
    ]


def test_gepa_asks_no_more_often_than_its_evaluations_pay_for(tmp_path):
    gepa = Gepa(model=model, population_size=2, evaluations_per_reflection=40)

    result = run(lambda: gepa, tmp_path / "x.db", budget=burnish.Budget(max_evaluations=400))

    asked = result.usage["by_purpose"]["propose"]["calls"]
    assert gepa.questions(400, 4) == (2, 12)
    assert 2 <= asked <= 12


@pytest.mark.parametrize("wrong", [0, -1, "many", True, float("inf")])
def test_gepa_refuses_a_share_that_is_none(wrong):
    with pytest.raises(burnish.UsageError, match="evaluations_per_reflection"):
        Gepa(evaluations_per_reflection=wrong)


@pytest.mark.parametrize("name", MAKERS)
def test_it_works_with_one_result_at_a_time(name, tmp_path):
    result = run(MAKERS[name], tmp_path / "x.db", trials=6, asynchronous=True)

    assert len(result.trials) == 7


@pytest.mark.parametrize("name", ["meta_prompt", "evolve"])
def test_a_budget_that_ends_within_a_step_ends_the_run_well(name, tmp_path):
    result = burnish.optimize(
        agent=burnish.Agent(
            name="counter",
            configuration={"sections": {"system": "Count.", "user": "{{n}}"}},
            run=lambda configuration, item: "no",
            version="1",
        ),
        suite=burnish.Suite(
            dataset=[{"n": n} for n in range(8)], scorers=[lambda output, item: 0.5]
        ),
        optimizer=MAKERS[name](),
        budget=burnish.Budget(max_calls=6),
        seed=5,
        db=tmp_path / "x.db",
    )

    assert result.stop_reason == "budget"
    assert result.usage["by_purpose"]["propose"]["calls"] <= 6
