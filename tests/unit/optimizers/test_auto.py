"""The `auto` optimizer: what it chooses, why, and that the chosen one works."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from asking_driver import AskingRun, rows
from worlds import LABELS, REVIEWS, EditWorld

import burnish
from burnish.app.report.runs.search_report import search_of
from burnish.domain import Configuration, RunContext, SearchSpace, StopReason, UsageError
from burnish.optimizers import Auto, Edits, build_optimizer
from burnish.optimizers.auto import choose

LOCKED = {"sections": []}
WIDE = {"temperature": {"low": 0.0, "high": 1.0}}
SMALL = {"style": ["plain", "kind"], "words": {"low": 1, "high": 4}}


def context(space=None, train=0, labels=()) -> RunContext:
    return RunContext(
        optimization_id="o",
        evaluation_suite_id="s",
        objective_name="score",
        baseline_candidate_id="c-0",
        baseline_score=0.5,
        max_candidates_per_step=4,
        baseline=Configuration.of({"sections": {"system": "Answer.", "user": "{{q}}"}}),
        space=SearchSpace.of(space or {}),
        splits={"train": tuple(f"t{n}" for n in range(train)), "validation": ("v1",)},
        seed=1,
        labels=labels,
    )


@pytest.mark.parametrize(
    ("given", "has_model", "name", "reason"),
    [
        ({}, True, "gepa", "2 sections may change"),
        ({}, False, "edits", "no model is given"),
        ({"space": {"parameters": WIDE}}, True, "gepa", "reflect on failures"),
        ({"space": {**LOCKED, "parameters": WIDE}}, True, "parameters", "only 1 parameter"),
        ({"space": {**LOCKED, "parameters": SMALL}}, False, "grid", "8 points"),
        ({"space": LOCKED, "train": 9, "labels": LABELS}, False, "few_shot", "9 training items"),
        ({"space": LOCKED, "train": 1}, True, "bootstrap", "1 training item can"),
        ({"space": LOCKED}, True, "edits", "no section, parameter or example"),
        ({"space": {**LOCKED, "max_examples": 0}, "train": 9}, False, "edits", "may change"),
    ],
)
def test_it_chooses_by_what_is_configured(given, has_model, name, reason):
    (choice,) = choose(context(**given), has_model=has_model)

    assert choice.name == name
    assert reason in choice.reason


@pytest.mark.parametrize(
    ("has_model", "left", "names"),
    [
        (True, None, ["joint", "gepa"]),
        (True, 6, ["joint", "gepa"]),
        (True, 5, ["gepa"]),
        (False, None, ["joint"]),
    ],
)
def test_where_labelled_examples_can_be_shown_beside_texts_it_is_a_joint_search(
    has_model, left, names
):
    given = replace(context(train=9, labels=LABELS), evaluations_left=left)

    chosen = choose(given, has_model=has_model)

    assert [one.name for one in chosen] == names
    assert "9 training items with labels" in chosen[0].reason or left == 5


def test_without_optuna_parameters_are_drawn_blindly(monkeypatch):
    monkeypatch.setattr("burnish.optimizers.auto.choosing.find_spec", lambda name: None)

    (choice,) = choose(context(space={**LOCKED, "parameters": WIDE}), has_model=False)

    assert choice.name == "random"
    assert "optuna" in choice.reason


def edits_run(optimizer, **more) -> AskingRun:
    given = {"baseline": REVIEWS, "labels": LABELS, "world": EditWorld(3), **more}
    return AskingRun(optimizer=optimizer, **given)


def test_it_proposes_what_the_chosen_one_proposes():
    auto, edits = edits_run(Auto).go(max_trials=16), edits_run(Edits).go(max_trials=16)

    assert [one.configuration.hash for one in auto.candidates.values()] == [
        one.configuration.hash for one in edits.candidates.values()
    ]


def test_the_choice_stands_in_the_state_and_in_the_first_rationales():
    run = edits_run(Auto).go(max_trials=12)

    assert run.state.algorithm_data["auto"] == {
        "choice": "edits",
        "reason": "2 sections may change, and no model is given to rewrite them",
    }
    said = [one.rationale for one in list(run.candidates.values())[1:]]
    assert all(one.startswith("auto chose edits: 2 sections") for one in said[:4])
    assert not any("auto chose" in one for one in said[4:])


@pytest.mark.parametrize(
    "space", [{**LOCKED, "parameters": WIDE}, {**LOCKED, "parameters": SMALL}, LOCKED]
)
def test_every_choice_can_be_driven(space):
    items = {
        **rows("train", 20, q=lambda n: f"q{n}", expected=str),
        **rows("validation", 20, q=lambda n: f"w{n}", expected=str),
    }
    splits = {
        name: tuple(one.id for one in items.values() if one.split == name)
        for name in ("train", "validation")
    }
    run = AskingRun(
        optimizer=Auto,
        baseline=Configuration.of(
            {
                "sections": {"system": "Answer.", "user": "{{q}}"},
                "parameters": {"temperature": 0.5, "style": "plain", "words": 1},
            }
        ),
        space=SearchSpace.of(space),
        items=items,
        splits=splits,
        world=lambda candidate, item: (float(int(item[1:]) % 2), "x"),
    ).go(max_trials=6)

    assert len(run.trials) > 3
    assert not run.refused


def test_the_target_is_passed_on():
    run = edits_run(lambda: Auto(target=0.1)).go()

    assert run.decision.reason is StopReason.TARGET_REACHED
    with pytest.raises(UsageError, match="target"):
        build_optimizer("auto", {"target": "high"})


def test_a_whole_optimization_with_a_model(tmp_path):
    def route(configuration, item):
        said = configuration["sections"]["system"]
        return item["label"] if item["label"] in said or item["n"] % 3 == 0 else "other"

    def model(prompt):
        text = re.search(r"```\n(.*?)\n```", prompt, re.DOTALL)[1]
        wanted = dict.fromkeys(re.findall(r'expected "(\w+)"', prompt))
        rules = [f"- Some tickets are {one}." for one in wanted if one not in text]
        return "Named what was missing.\n```\n" + "\n".join([text, *rules]) + "\n```"

    result = burnish.optimize(
        agent=burnish.Agent(
            name="router",
            configuration={"sections": {"system": "Route the ticket.", "user": "{{text}}"}},
            run=route,
            version="1",
        ),
        suite=burnish.Suite(
            dataset=[
                {"n": n, "text": f"ticket {n}", "label": ("billing", "shipping")[n % 2]}
                for n in range(60)
            ],
            scorers=[{"kind": "exact_match", "field": "label"}],
            split={"train": 0.3, "validation": 0.4, "test": 0.3},
        ),
        optimizer=Auto(model=model),
        budget=burnish.Budget(max_evaluations=400),
        seed=3,
        db=tmp_path / "x.db",
    )

    said = [one.rationale or "" for one in result.candidates.values()]
    assert any(one.startswith("auto chose gepa") for one in said)
    assert result.best.score > result.baseline.score


@pytest.mark.parametrize(("left", "name"), [(None, "gepa"), (1000, "gepa"), (1, "edits")])
def test_a_budget_too_small_for_reflection_goes_to_mechanical_edits(left, name):
    run = replace(context(), evaluations_left=left)

    (choice,) = choose(run, has_model=True)

    assert choice.name == name
    assert (left == 1) == ("budget" in choice.reason)


SIGNS = ("red", "blue", "green")


def shown_twice(configuration, item):
    """Right where two examples of the label are shown, and never for some items."""
    label = item["label"]
    shown = sum(one["output"] == label for one in configuration["examples"])
    right = shown > 1 and int(item["text"].split()[1]) % 4
    return label if right else SIGNS[(SIGNS.index(label) + 1) % 3]


def portfolio(tmp_path, name, model, **more):
    return burnish.optimize(
        agent=burnish.Agent(
            name="signs",
            configuration={"sections": {"system": "Name the sign.", "user": "{{text}}"}},
            run=shown_twice,
            labels=SIGNS,
            version="1",
        ),
        suite=burnish.Suite(
            dataset=[{"text": f"sign {n}", "label": SIGNS[n % 3]} for n in range(60)],
            scorers=[{"kind": "exact_match", "field": "label"}],
            split={"train": 0.4, "validation": 0.6},
        ),
        optimizer=Auto(model=model),
        seed=1,
        db=tmp_path / name,
        **more,
    )


def test_two_that_fit_share_the_budget_and_the_result_says_how(tmp_path):
    def useless(prompt):
        return "I changed a word.\n```\nName the sign well.\n```"

    result = portfolio(tmp_path, "x.db", useless, budget=burnish.Budget(max_evaluations=600))

    chosen = result.document["search"]["chosen"]
    assert [one["optimizer"] for one in chosen["turns"]][:3] == ["joint", "gepa", "joint"]
    assert "leads" in chosen["turns"][2]["reason"]
    words = search_of(result.document)["words"]
    assert words[0].startswith("auto chose joint: 24 training items")
    assert words[2].startswith("auto then chose joint: its best trial leads")
    assert result.best.score > result.baseline.score
    assert result.evaluations <= 600
