"""`burnish optimize` and what looks at its results, in processes of their own, on a Python agent."""

from __future__ import annotations

import pytest
from optimize_project import PROMPT, calls, essence, make_project, optimized

import burnish as api

FIELDS = {
    "optimization_id",
    "status",
    "stop_reason",
    "baseline",
    "best",
    "test",
    "improvement",
    "trials",
    "evaluations",
    "rejections",
    "usage",
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A project with one optimization, and its document."""
    project = make_project(tmp_path_factory.mktemp("finished") / "p")
    return project, optimized(project)


def test_the_document_has_everything_that_the_design_promises(finished):
    _, result = finished

    assert result.keys() >= FIELDS
    assert result["status"] == "completed"
    assert result["stop_reason"] == "budget"
    assert result["trials"] == 6
    assert result["evaluations"] == 24 * 7 + 2 * 24
    assert result["best"].keys() >= {"candidate_id", "score", "configuration", "errors", "missing"}
    assert result["test"].keys() >= {"baseline_score", "best_score"}
    assert result["improvement"].keys() >= {"delta", "ci_low", "ci_high", "p_value"}
    assert result["usage"].keys() >= {"calls", "input_tokens", "output_tokens", "cost_usd"}


def test_one_seed_gives_one_result_cached_or_not(finished):
    project, first = finished
    paid = calls(project).total()

    cached = optimized(project)
    assert essence(cached) == essence(first)
    assert calls(project).total() == paid, "all of it was answered before"

    afresh = optimized(project, "--db", "other.db")
    assert essence(afresh) == essence(first)
    assert calls(project).total() == 2 * paid


def test_flags_win_over_variables_and_variables_over_the_file(here, finished):
    project, _ = finished
    variables = {"BURNISH_BUDGET_MAX_TRIALS": "5", "BURNISH_OPTIMIZER_NAME": "random"}

    def plan(*flags, **variables):
        planned = here.document(project, "optimize", "--dry-run", *flags, **variables)
        return planned["budget"]["max_trials"], planned["optimizer"]

    assert plan() == (6, "edits")
    assert plan(**variables) == (5, "random")
    assert plan("--max-trials", "4", "--optimizer", "grid", **variables) == (4, "grid")


def test_the_graph_has_true_parents(here, finished):
    project, result = finished

    graph = here.document(project, "show", result["optimization_id"], "--graph")

    assert graph.keys() == {"nodes", "edges"}
    nodes = {node["id"]: node for node in graph["nodes"]}
    assert [node["number"] for node in nodes.values()] == list(range(7))
    assert {(edge["source"], edge["target"]) for edge in graph["edges"]} == {
        (parent, node["id"]) for node in nodes.values() for parent in node["parent_candidate_ids"]
    }
    for node in nodes.values():
        parents = [nodes[parent] for parent in node["parent_candidate_ids"]]
        assert bool(parents) != node["baseline"]
        assert node["step_index"] == max([one["step_index"] + 1 for one in parents], default=0)
    [best] = [node for node in nodes.values() if node["best"]]
    assert (best["id"], best["score"]) == (
        result["best"]["candidate_id"],
        result["best"]["score"],
    )


def test_what_a_person_reads(here, finished):
    project, result = finished
    identity = result["optimization_id"]

    listed = here.out(project, "list")
    assert identity[-8:] in listed
    assert "experiments" not in listed, "trials belong to their optimization"
    summary = here.out(project, "show", identity[:13])
    assert f"{result['baseline']['score']:.3f} → {result['best']['score']:.3f}" in summary
    assert "held out" in summary
    assert f"burnish diff {identity[-8:]}" in summary
    trials = here.out(project, "show", identity, "--trials")
    assert "what was tried" in trials
    tree = here.out(project, "show", identity, "--graph")
    assert "└── " in tree
    events = here.document(project, "show", identity, "--events")["events"]
    assert [one["sequence"] for one in events] == list(range(1, len(events) + 1))
    assert here.document(project, "show", identity, "--rejections") == {"rejections": []}


def test_any_two_candidates_are_compared(here, finished):
    project, result = finished
    identity = result["optimization_id"]

    default = here.document(project, "diff", identity)
    named = here.document(project, "diff", identity, "0", result["best"]["candidate_id"])
    backwards = here.document(project, "diff", identity, "best", "baseline")
    same = here.document(project, "diff", identity, "2", "2")

    assert default == named
    changed = {one["path"]: one for one in default["sections"]}
    best = result["best"]["configuration"]["sections"]
    assert changed
    assert all(one["after"] == best[path] for path, one in changed.items())
    assert [one["before"] for one in backwards["sections"]] == [
        one["after"] for one in default["sections"]
    ]
    assert (same["sections"], same["parameters"], same["examples"]) == ([], [], None)
    assert "no difference" in here.out(project, "diff", identity, "2", "2")


def test_a_dry_run_calls_and_stores_nothing(here, tmp_path):
    project = make_project(tmp_path / "p")

    plan = here.document(project, "optimize", "--dry-run", "--max-trials", "2")
    words = here.out(project, "optimize", "--dry-run")

    assert plan["evaluations"]["max"] == 24 * 3 + 2 * 24
    assert plan["total"]["most"]["why_unknown"]
    assert "unknown: the agent's own calls cannot be seen" in words
    assert not calls(project)
    assert not (project / ".burnish").exists()


def test_promoting_asks_first_and_then_makes_a_version(here, tmp_path):
    project = make_project(tmp_path / "p")
    result = here.document(project, "optimize")
    identity = result["optimization_id"]
    prompt = project / "prompts" / "system.md"

    refused = here.err(project, "promote", identity, code=2)
    assert "--yes" in refused
    assert here.document(project, "show", identity)["active_version"] is None

    candidate = next(
        node["number"]
        for node in here.document(project, "show", identity, "--graph")["nodes"]
        if _changes_system(here, project, identity, node["number"])
    )
    promoted = here.document(
        project, "promote", identity, str(candidate), "--yes", "--write", "--note", "why"
    )
    assert (promoted["agent"], promoted["version"], promoted["note"]) == ("tickets", 2, "why")
    assert here.document(project, "show", identity)["active_version"] == 2
    shown = " ".join(here.out(project, "show", identity).split())
    assert f"uses version 2, candidate {candidate} of this run" in shown
    assert prompt.read_text() == promoted["configuration"]["sections"]["system"] + "\n"
    assert promoted["written"] == [str(prompt)]

    again = here.document(project, "promote", identity, str(candidate), "--yes")
    assert (again["version"], again["created"]) == (2, False)
    best = here.document(project, "promote", identity, "--yes")
    assert best["configuration"] == result["best"]["configuration"]
    assert best["version"] == (2 if best["configuration"] == promoted["configuration"] else 3)

    prompt.write_text("Somebody else's words.\n")
    clash = here.err(project, "promote", identity, str(candidate), "--yes", "--write", code=3)
    assert "changed since the run started" in clash
    assert prompt.read_text() == "Somebody else's words.\n"


def _changes_system(here, project, identity, number):
    change = here.document(project, "diff", identity, "baseline", str(number))
    return any(one["path"] == "system" for one in change["sections"])


def test_an_experiment_is_still_shown_and_an_optimization_from_python_is_not_resumed(
    here, tmp_path, monkeypatch
):
    project = make_project(tmp_path / "p")
    monkeypatch.chdir(project)
    experiment = here.document(project, "eval")["experiment_id"]
    result = api.optimize(
        agent=api.Agent(
            name="parity",
            configuration={"sections": {"system": "Say it. {{n}}"}},
            run=lambda configuration, item: "even",
        ),
        suite=api.Suite(
            dataset=[{"n": n, "label": "even"} for n in range(6)],
            scorers=[{"kind": "exact_match", "field": "label"}],
        ),
        budget=api.Budget(max_trials=1),
    )
    identity = result.optimization_id

    assert here.document(project, "show", experiment)["experiment_id"] == experiment
    assert here.document(project, "show")["optimization_id"] == identity
    both = here.document(project, "list")
    assert [one["experiment_id"] for one in both["experiments"]] == [experiment]
    assert here.document(project, "list", "--kind", "optimizations").keys() == {"optimizations"}
    assert here.document(project, "resume", identity)["status"] == "completed"
    misplaced = here.err(project, "show", experiment, "--trials", code=2)
    assert "is an experiment" in misplaced
    misplaced = here.err(project, "show", identity, "--failing", code=2)
    assert "for the best candidate: burnish show" in misplaced


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["optimise"], "did you mean 'optimize'?"),
        (["optimize", "--max-trails", "3"], "did you mean '--max-trials'?"),
        (["optimize", "--optimizer", "edit"], "did you mean 'edits'?"),
        (["optimize", "--racing", "fast"], "off, conservative, aggressive"),
        (["optimize", "--set", "optimizer.patience=lots"], "patience"),
        (["optimize", "--set", "optimizer.patiense=3"], "patience"),
        (["optimize", "--set", "optimizer.seed=x"], "whole number"),
        (["optimize", "--set", "optimizer.candidates_per_step=many"], "whole number"),
        (["optimize", "--set", "optimizer.space=3"], "not a table"),
        (["optimize", "--set", "budget.max_trial=3"], "did you mean 'max_trials'?"),
        (["optimize", "--max-cost", "-1"], "--max-cost"),
        (["optimize", "--max-cost", "0"], "raise max_cost_usd"),
        (["optimize", "--max-evaluations", "23"], "the baseline alone takes 24 evaluations"),
        (["optimize", "--max-trials", "0", "--dry-run"], "raise max_trials"),
        (
            ["optimize", "--section", "user=no placeholder {{wrong}}", "--model", "x"],
            "run and model",
        ),
        (["resume"], "ID"),
        (["resume", "nope"], "burnish list"),
        (["cancel", "nope"], "burnish list"),
        (["diff", "latest", "99"], "a number from 0 to 6"),
        (["diff", "latest", "baseline", "worst"], "baseline, best"),
        (["promote", "latest", "99", "--yes"], "a number from 0 to 6"),
        (["show", "nope"], "burnish list"),
        (["list", "--kind", "things"], "things"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input_has_one_clear_message(here, finished, arguments, words):
    project, _ = finished

    message = here.err(project, *arguments, code=2)

    assert words in message
    assert message.count("error: ") == 1
    assert all(part in message for part in ("\n  why: ", "\n  fix: "))


def test_where_nothing_is_stored_nothing_is_made(here, tmp_path):
    project = make_project(tmp_path / "p")

    for command in ("resume", "cancel", "diff", "promote"):
        assert "nothing is stored here yet" in here.err(project, command, "latest", code=2)
    assert here.document(project, "list") == {"optimizations": [], "experiments": []}
    assert not (project / ".burnish").exists()


def test_the_start_of_a_run_is_kept_with_it_and_no_key_is(here, tmp_path):
    project = make_project(tmp_path / "p")
    canary = "sk-canary-0123456789abcdef"
    flags = ("--max-trials", "1", "--set", f"models.other.api_key={canary}")

    result = here.document(project, "optimize", *flags, OPENAI_API_KEY=canary)

    database = (project / ".burnish" / "burnish.db").read_bytes()
    assert PROMPT.strip().encode() in database
    assert result["optimization_id"].encode() in database
    assert canary.encode() not in database
