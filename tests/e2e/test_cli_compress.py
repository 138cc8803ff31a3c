"""`burnish compress` from its config to its exit code, on a Python agent."""

import json
import re
from pathlib import Path

import pytest

import burnish

LONG = (
    "Please note that you are a very helpful assistant. Thank you very much for your help.\n"
    "Tickets about a refund are billing.\n"
    "In order to do well, please read carefully. In order to do well, read carefully.\n"
    "Tickets about a crash are technical."
)
SHORT = "Tickets about a refund are billing.\nTickets about a crash are technical."
AGENT = """
def answer(configuration, item):
    text = configuration["sections"]["system"].lower()
    known = ("refund" in text) if item["label"] == "billing" else ("crash" in text)
    return item["label"] if known else "other"


def polite(configuration, item):
    # Only held-out tickets want thanks: what validation cannot see.
    thanked = "thank" in configuration["sections"]["system"].lower()
    return answer(configuration, item) if thanked or item["number"] < 20 else "other"


def by_example(configuration, item):
    shown = {one["output"] for one in configuration["examples"]}
    return item["label"] if item["label"] in shown else "other"
"""
ROWS = [
    {
        "id": f"r{n}",
        "number": n,
        "label": ("billing", "technical")[n % 2],
        "split": "validation" if n < 20 else "test",
    }
    for n in range(32)
]
SHOTS = [
    {"input": {"number": n}, "output": ("billing", "technical")[n % 2]} for n in range(100, 108)
]


@pytest.fixture
def project(tmp_path, monkeypatch):
    def write(function="answer", examples=()):
        shown = "".join(
            f"[[agent.examples]]\ninput = {{ number = {one['input']['number']} }}\n"
            f'output = "{one["output"]}"\n'
            for one in examples
        )
        (tmp_path / "burnish.toml").write_text(
            f'[agent]\nname = "tickets"\nrun = "agent:{function}"\n'
            f'[agent.sections]\nsystem = {json.dumps(LONG)}\nuser = "Ticket {{{{number}}}}"\n{shown}'
            '[suite]\ndataset = "rows.jsonl"\nsplit = "field"\n'
            'scorers = [{ kind = "exact_match", field = "label" }]\n'
        )

    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    monkeypatch.chdir(tmp_path)
    write()
    return write


def compressed(here, *arguments, code=0):
    return here.document(Path.cwd(), "compress", *arguments, code=code)


def test_the_document_tells_tokens_regressions_held_out_score_and_savings(project, here):
    document = compressed(here, "--tag", "short", "--apply", "--yes", "--calls-per-month", "1000")

    tokens = document["tokens"]
    assert document["configuration"]["sections"]["system"] == SHORT
    assert tokens["saved"] == tokens["before"] - tokens["after"] > 30
    assert (document["regressions"], document["refuted"], document["gate_items"]) == (0, False, 20)
    held_out = document["held_out"]
    assert (held_out["baseline_score"], held_out["best_score"], held_out["items"]) == (1, 1, 12)
    savings = document["savings"]
    assert savings["tokens_per_call"] == tokens["saved"]
    assert savings["tokens_per_month"] == 1000 * tokens["saved"]
    assert (savings["usd_per_call"], savings["usd_per_month"]) == (None, None)
    assert "not known" in savings["why_unknown"]
    assert (document["tag"], document["applied_version"]) == ("short", 2)


def test_held_out_items_that_speak_against_it_end_with_1_and_keep_nothing(project, here):
    project("polite")

    document = compressed(here, "--tag", "short", "--apply", "--yes", code=1)

    assert document["refuted"] and document["regressions"] == 0
    # What held-out items speak against is not the result either.
    assert document["configuration"]["sections"]["system"] == LONG
    assert (document["modifications"], document["tokens"]["saved"]) == ([], 0)
    assert "held-out items speak against" in document["rejected"][0]["reason"]
    assert document["held_out"]["best_score"] == 0
    assert (document["tag"], document["applied_version"]) == (None, None)
    assert here.document(Path.cwd(), "tags")["tags"] == []


def test_python_and_the_command_line_come_to_the_same(project, here, tmp_path, monkeypatch):
    project("polite")
    ours = compressed(here, code=1)
    monkeypatch.syspath_prepend(tmp_path)
    import agent  # noqa: PLC0415 - written by the fixture

    done = burnish.compress(
        burnish.Agent(
            name="tickets",
            configuration={"sections": {"system": LONG, "user": "Ticket {{number}}"}},
            run=agent.polite,
        ),
        burnish.Suite(
            dataset="rows.jsonl",
            scorers=[{"kind": "exact_match", "field": "label"}],
            split="field",
        ),
        tag="short",
        apply=True,
        seed=0,
        db="python.db",
    )

    theirs = done.to_json()
    for name in ("tokens", "held_out", "refuted", "regressions", "modifications", "gate_items"):
        assert theirs[name] == ours[name], name
    assert (done.tag, done.version) == (None, None)


def test_examples_go_until_one_of_each_answer_is_left(project, here):
    project("by_example", SHOTS)

    document = compressed(here, "--tag", "few")

    left = document["configuration"]["examples"]
    assert sorted(one["output"] for one in left) == ["billing", "technical"]
    change = next(one for one in document["modifications"] if one["section_path"] == "@examples")
    size = next(one for one in document["tokens"]["sections"] if one["path"] == "@examples")
    assert change["token_reduction"] == size["before"] - size["after"] > 0
    (tag,) = here.document(Path.cwd(), "tags")["tags"]
    assert tag["tokens"] == document["tokens"]["after"]
    assert "@examples" in here.out(Path.cwd(), "compress", "--resume", document["optimization_id"])


def test_the_report_for_people_names_what_is_saved(project, here):
    out = here.out(Path.cwd(), "compress", "--calls-per-month", "1000")

    for words in ("tokens (−", "regressions", "held out", "saved a call", "saved a month"):
        assert words in out, out
    # A line by its words, and of the items that it would break the least number.
    assert re.search(
        r"not done: .*Tickets about a refund.*regresses alone \(at least \d+ item", out
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("--eval-runs", "0"),
        ("--tag", "../up"),
        ("--tag", ""),
        ("--only", "sytem"),
        ("--only", "@examples"),
        ("--min-section-tokens", "0"),
        ("--calls-per-month", "0"),
        ("--max-evaluations", "-1"),
        ("--apply",),
        ("--resume", "nothing"),
        ("--rewriter", "nobody"),
    ],
)
def test_bad_input_ends_with_2_and_says_how_to_go_on(project, here, arguments):
    out, err = here.run(Path.cwd(), "compress", "--json", *arguments, code=2)

    assert (out + err).strip()


def test_a_section_that_is_not_there_is_refused_before_anything_is_run(project, here):
    here.run(Path.cwd(), "compress", "--only", "sytem", code=2)

    assert here.document(Path.cwd(), "list")["optimizations"] == []
