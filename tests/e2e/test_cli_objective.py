"""An objective on the command line: set, refused, shown, reported."""

import json

import pytest

CONFIG = """
[agent]
name = "wordings"
run = "agent:answer"
[agent.sections]
system = "plain {{n}}"
[suite]
dataset = "rows.jsonl"
scorers = [{ kind = "exact_match", field = "label" }]
split = { validation = 0.5, test = 0.5 }
[optimizer]
name = "grid"
sections = { system = ["rich {{n}}", "lean {{n}}", "bad {{n}}"] }
[budget]
max_trials = 6
"""
AGENT = """
import burnish

WORDS = {"plain": (0.80, 100), "rich": (0.90, 400), "lean": (0.78, 20), "bad": (0.1, 500)}

def answer(configuration, item):
    worth, tokens = WORDS[configuration["sections"]["system"].split()[0]]
    usage = burnish.Usage(calls=1, input_tokens=tokens, cost_usd=tokens / 1e6)
    spending = burnish.Spending.on(burnish.Purpose.AGENT, usage)
    text = "yes" if item["n"] < worth * 100 else "no"
    return burnish.AgentOutput(text=text, spending=spending, latency_ms=tokens / 10)
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "burnish.toml").write_text(CONFIG)
    (tmp_path / "agent.py").write_text(AGENT)
    rows = [{"id": f"r{n}", "n": n, "label": "yes"} for n in range(100)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def system(document):
    return document["best"]["configuration"]["sections"]["system"].split()[0]


def test_an_objective_is_set_by_path_and_by_variable(here, project):
    assert system(here.document(project, "optimize")) == "rich"
    weighed = here.document(project, "optimize", "--set", "optimizer.objective.tokens=0.2")
    asked = 'optimizer.objective={ pareto = ["cost"], tolerance = 0.01 }'
    pareto = here.document(project, "optimize", "--set", asked)
    variable = here.document(project, "optimize", BURNISH_OPTIMIZER_OBJECTIVE="{ latency = 0.2 }")

    assert [system(one) for one in (weighed, pareto, variable)] == ["lean", "rich", "lean"]
    assert [one["objective"]["kind"] for one in (weighed, pareto)] == ["weighted", "pareto"]


def test_a_slip_is_refused_with_the_nearest_name(here, project):
    for command in ("optimize", "validate"):
        (project / "burnish.toml").write_text(
            CONFIG.replace("[budget]", "objective = { tokns = 0.1 }\n[budget]")
        )

        said = here.err(project, command, code=2)

        assert "did you mean 'tokens'" in said


def test_the_result_says_what_was_chosen_and_what_that_trades(here, project):
    out, err = here.run(
        project,
        "optimize",
        "--racing",
        "aggressive",
        "--set",
        "optimizer.objective.tokens=0.2",
    )
    shown = here.out(project, "show", "latest")

    assert "racing is off" in err
    for text in (out, shown):
        assert "objective" in text
        assert "100 → 20  an evaluation, 80% fewer tokens" in text
        assert "of score for 95% fewer tokens against candidate 1" in text
        assert "the front: 3 candidates that no other beats" in text
        assert "better by the objective: score" in text
        assert "burnish promote" in text
    trials = here.out(project, "show", "latest", "--trials")
    assert "tokens" in trials
    assert "400" in trials


def test_show_has_the_front_as_json_with_and_without_an_objective(here, project):
    here.document(project, "optimize")
    plain = here.document(project, "show", "latest")
    here.document(project, "optimize", "--set", "optimizer.objective.latency=0.2")
    weighed = here.document(project, "show", "latest")

    for document in (plain, weighed):
        assert document["front"] == document["result"]["objective"]["front"]
        assert [one["tokens"] for one in document["front"]] == [20, 100, 400]
    assert plain["result"]["objective"]["kind"] == "score"
    assert "utility" not in plain["front"][0]
    assert "utility" in weighed["front"][0]
    assert "the front" not in here.out(project, "optimize")


def test_a_resumed_run_keeps_its_objective(here, project):
    here.document(project, "optimize", "--set", "optimizer.objective.tokens=0.2")
    again = here.document(project, "resume", "latest")

    assert again["objective"]["weights"] == {"tokens": 0.2}


def test_a_promotion_does_not_doubt_a_lower_score_that_was_asked_for(here, project):
    here.document(project, "optimize", "--set", "optimizer.objective.tokens=5")

    promoted = here.document(project, "promote", "latest", "--yes")

    assert promoted["warnings"] == []


def test_the_plan_names_the_objective(here, project):
    planned = here.out(project, "optimize", "--dry-run", "--set", "optimizer.objective.tokens=0.2")

    assert "score − 0.2 × tokens" in planned


def test_the_report_draws_the_front_of_what_counts(here, project):
    here.document(project, "optimize", "--set", "optimizer.objective.cost=0.2")
    here.run(project, "report", "latest", "-o", "report.html")

    page = (project / "report.html").read_text()

    assert "Score against cost" in page
    assert "US dollars of a thousand evaluations" in page
    assert "chosen by the objective" in page
    assert "Better by the objective" in page
