"""Compression from Python and from the command line, killed, resumed and given bad input."""

import asyncio
import json
from collections import Counter
from pathlib import Path

import pytest
from kills import die, killed

import burnish
from burnish.cli.invocation import run_command
from burnish.overrides import LocalPromptOverridesStore, SectionOverride, descriptor_of

SYSTEM = """Please note that you are a very helpful assistant. It is very important to read it all.
Tickets about a refund or a bill are billing. Thank you very much for your help.
Tickets about a crash or an error are technical.
In order to do well, please read carefully. In order to do well, read carefully.
For example, a ticket may be long."""
SHORT = (
    "Tickets about a refund or a bill are billing.\n"
    "Tickets about a crash or an error are technical."
)
ROWS = [
    {"id": f"r{n}", "text": f"ticket {n}", "label": ("billing", "technical")[n % 2]}
    for n in range(30)
]
SPLIT = {"train": 0.2, "validation": 0.5, "test": 0.3}


def knows(configuration, label):
    text = configuration["sections"]["system"].lower()
    return ("refund" in text) if label == "billing" else ("crash" in text)


def answer(configuration, item):
    return item["label"] if knows(configuration, item["label"]) else "other"


def agent(run=answer, system=SYSTEM):
    sections = {"system": system, "user": "{{text}}"}
    return burnish.Agent(name="tickets", configuration={"sections": sections}, run=run, version="1")


def suite(**changes):
    scorers = [{"kind": "exact_match", "field": "label"}]
    return burnish.Suite(**{"dataset": ROWS, "scorers": scorers, "split": SPLIT, **changes})


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BURNISH_DB", raising=False)


def test_the_shortest_prompt_that_breaks_nothing_wins():
    done = burnish.compress(agent(), suite(), calls_per_month=1000, tag="short", apply=True, seed=0)

    report = done.report
    assert done.configuration.sections["system"] == SHORT
    assert done.result.best.configuration == done.configuration
    assert report.regressions == ()
    assert report.tokens_after < 0.35 * report.tokens_before
    assert report.savings.tokens_per_month == 1000 * report.total_token_reduction
    assert report.held_out["baseline_score"] == report.held_out["best_score"] == 1.0
    assert any(one.regression_count for one in report.rejected)
    assert done.version == 2
    json.dumps(done.to_json())


def test_the_tag_and_the_modifications_give_the_same_prompt():
    done = burnish.compress(agent(), suite(), tag="short")
    baseline = done.result.baseline.configuration

    found = asyncio.run(
        LocalPromptOverridesStore(Path(".burnish/overrides")).resolve(
            descriptor_of("tickets", baseline), tag="short"
        )
    )

    assert found.apply(baseline) == done.configuration
    assert burnish.with_modifications(baseline, done.report.modifications) == done.configuration
    with pytest.raises(burnish.ConflictError, match="changed since"):
        burnish.with_modifications(done.configuration, done.report.modifications)
    with pytest.raises(burnish.UsageError, match="no such section"):
        burnish.with_modifications({"sections": {"x": "y"}}, done.report.modifications)


def test_lines_that_no_item_tests_are_named_and_kept_unless_asked_for():
    rule = "Never reveal internal prices to anybody."
    system = f"{SYSTEM}\n{rule}"

    careful = burnish.compress(agent(system=system), suite(), seed=0)
    reckless = burnish.compress(agent(system=system), suite(), drop_untested=True, seed=0)
    protected = burnish.compress(
        agent(system=system), suite(), drop_untested=True, protected=["Never reveal"], seed=0
    )

    assert careful.configuration.sections["system"] == f"{SHORT}\n{rule}"
    assert (rule, True) in [(one.text, one.kept) for one in careful.report.untested]
    assert reckless.configuration.sections["system"] == SHORT
    assert (rule, False) in [(one.text, one.kept) for one in reckless.report.untested]
    assert protected.configuration == careful.configuration


def test_the_last_line_of_a_section_stays_and_is_told_as_not_tried():
    """It was told as needed by no item, though items may need it."""
    rule = "A crash is technical."
    sections = {
        "system": f"Always read everything with great care before you answer here.\n{rule}",
        "rules": SHORT.splitlines()[0],
        "user": "{{text}}",
    }

    def run(configuration, item):
        whole = " ".join(configuration["sections"].values())
        return answer({"sections": {"system": whole}}, item)

    given = burnish.Agent(
        name="tickets", configuration={"sections": sections}, run=run, version="1"
    )

    done = burnish.compress(
        given, suite(split=None), min_section_tokens=1, drop_untested=True, seed=0
    )

    assert done.configuration.sections["system"] == rule
    (told,) = [one for one in done.report.rejected if rule.strip(".") in one.edit]
    assert told.reason == "it is all that is left of its section, and an empty section is not tried"


def test_flaky_failures_are_run_again_and_cost_no_saving():
    seen = Counter()

    def flaky(configuration, item):
        key = (configuration["sections"]["system"], item["text"])
        seen[key] += 1
        first = seen[key] == 1 and configuration["sections"]["system"] != SYSTEM
        shaky = item["text"].endswith("3")
        return "other" if first and shaky else answer(configuration, item)

    done = burnish.compress(agent(flaky), suite(split=None), eval_runs=2, seed=0)

    assert done.configuration.sections["system"] == SHORT
    assert done.report.eval_runs == 2


def test_a_model_that_rewrites_is_counted():
    def rewrite(prompt):
        return f"```\n{SHORT if 'telegram' in prompt else 'Read the ticket.'}\n```"

    done = burnish.compress(agent(), suite(), model=rewrite, lines=False, seed=0)

    assert done.configuration.sections["system"] == SHORT
    assert sum(one["calls"] for one in done.report.usage["by_purpose"].values()) == 3


@pytest.mark.parametrize(
    ("run", "system", "message"),
    [
        (answer, SHORT, "every cut was tried"),
        (answer, "Refund, crash.", "nothing to shorten"),
        (lambda configuration, item: "other", SYSTEM, "no item passes consistently"),
    ],
)
def test_where_nothing_can_go_the_prompt_stays(run, system, message):
    done = burnish.compress(agent(run, system), suite(), tag="none", apply=True)

    assert done.configuration.sections["system"] == system
    assert not done.report.has_modifications
    assert message in done.report.stop_message
    assert (done.tag, done.version) == (None, None)


def test_bad_input_is_refused():
    with pytest.raises(burnish.UsageError, match="no such section"):
        burnish.compress(agent(), suite(), sections=["sytem"])
    with pytest.raises(burnish.UsageError, match="cannot be used"):
        burnish.compress(agent(), suite(), tag="../x")

    def broken(configuration, item):
        raise ConnectionError("down")

    with pytest.raises(burnish.UnavailableError, match="commonest, .* ConnectionError: down"):
        burnish.compress(agent(broken), suite())


def fingerprint(done):
    result = done.result
    return (
        dict(done.configuration.sections),
        done.report.evaluations,
        [one.to_json() for one in done.report.rejected],
        [one.configuration.hash for one in result.candidates.values()],
    )


@pytest.mark.parametrize("share", [0.2, 0.8])
def test_a_killed_compression_resumes_into_the_same_one(share, undisturbed, tmp_path):
    expected, calls = undisturbed
    ids = tmp_path / "id"
    asked = []

    def watch(attempt):
        ids.write_text(attempt.orchestrator._plan.optimization_id)

    def deadly(configuration, item):
        asked.append(item)
        if len(asked) >= share * calls:
            die()
        return answer(configuration, item)

    killed(lambda: burnish.compress(agent(deadly), suite(), db="b.db", seed=3, watch=watch))
    done = burnish.compress(agent(), suite(), db="b.db", seed=3, resume=ids.read_text())

    assert fingerprint(done) == expected


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """What it comes to, and the calls it takes."""
    asked = []

    def counted(configuration, item):
        asked.append(item)
        return answer(configuration, item)

    db = tmp_path_factory.mktemp("compress") / "b.db"
    return fingerprint(burnish.compress(agent(counted), suite(), db=db, seed=3)), len(asked)


CONFIG = f"""
[agent]
name = "tickets"
run = "agent:answer"
[agent.sections]
system = {json.dumps(SYSTEM)}
user = "{{{{text}}}}"
[suite]
dataset = "rows.jsonl"
scorers = [{{ kind = "exact_match", field = "label" }}]
split = {{ train = 0.2, validation = 0.5, test = 0.3 }}
[optimizer]
name = "edits"
patience = 3
"""
AGENT = """
def answer(configuration, item):
    text = configuration["sections"]["system"].lower()
    known = ("refund" in text) if item["label"] == "billing" else ("crash" in text)
    return item["label"] if known else "other"
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "burnish.toml").write_text(CONFIG)
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return tmp_path


def command(capfd, *arguments, code=0):
    capfd.readouterr()
    assert run_command(list(arguments)) == code
    return capfd.readouterr().out


def test_the_command_prints_one_document_and_keeps_the_tag(project, capfd):
    out = command(capfd, "compress", "--tag", "short", "--apply", "--yes", "--json")

    document = json.loads(out)
    assert document["regressions"] == 0
    assert document["tokens"]["saved"] > 50
    assert (document["tag"], document["applied_version"]) == ("short", 2)
    assert document["held_out"]["best_score"] == 1.0
    tags = json.loads(command(capfd, "tags", "--json"))["tags"]
    assert [(one["tag"], one["tokens"]) for one in tags] == [("short", document["tokens"]["after"])]
    identity = document["optimization_id"]
    again = json.loads(command(capfd, "compress", "--resume", identity, "--json"))
    assert again["modifications"] == document["modifications"]
    assert "tokens" in command(capfd, "compress", "--resume", identity)


AWAY = """
from pathlib import Path
import burnish
calls = []
def answer(configuration, item):
    calls.append(item)
    if 30 < len(calls) and not Path("back").exists():
        raise burnish.UnavailableError(what="no answer", why="connection refused", fix="start it")
    text = configuration["sections"]["system"].lower()
    known = ("refund" in text) if item["label"] == "billing" else ("crash" in text)
    return item["label"] if known else "other"
"""


def test_an_outage_is_no_regression_and_the_run_goes_on_after_it(project, capfd):
    undisturbed = json.loads(command(capfd, "compress", "--json", "--seed", "0"))
    (project / "burnish.toml").write_text(
        CONFIG.replace('"agent:answer"', '"away:answer"\noutage_seconds = 0.5')
    )
    (project / "away.py").write_text(AWAY)

    command(capfd, "compress", "--json", "--seed", "0", code=4)
    (stopped,) = [
        one
        for one in json.loads(command(capfd, "list", "--json"))["optimizations"]
        if one["status"] == "failed"
    ]
    (project / "back").touch()
    document = json.loads(
        command(capfd, "compress", "--resume", stopped["optimization_id"], "--json")
    )

    assert document["tokens"] == undisturbed["tokens"]
    assert document["rejected"] == undisturbed["rejected"]


def test_a_result_that_fails_in_its_trial_is_not_chosen_and_not_tagged(monkeypatch):
    seen = []

    def late(configuration, item):
        """Passes while the search looks, and fails from then on."""
        if configuration["sections"]["system"] == SYSTEM or item["text"] != "ticket 3":
            return answer(configuration, item)
        seen.append(configuration["sections"]["system"])
        return "other" if seen.count(seen[-1]) > 1 else answer(configuration, item)

    # As if nothing could be reused: the trial runs all items anew.
    monkeypatch.setattr("burnish.evaluation.runner.cache_scope", lambda agent, experiment: None)

    done = burnish.compress(
        agent(late),
        suite(split=None, dataset=ROWS[:6]),
        model=lambda prompt: f"```\n{SHORT}\n```",
        lines=False,
        tag="live",
        seed=0,
    )

    assert done.configuration.sections["system"] == SYSTEM
    assert (done.tag, done.report.regressions) == (None, ())


THANKS = f"{SHORT}\nThank the customer."


def thankful(configuration, item):
    """Held-out tickets want thanks, which no item of the search does."""
    thanked = "thank" in configuration["sections"]["system"].lower()
    return answer(configuration, item) if thanked or item["wants"] == "nothing" else "other"


@pytest.mark.parametrize(
    ("rewritten", "left"), [(THANKS, THANKS), (SHORT, SYSTEM)], ids=["sections", "baseline"]
)
def test_what_held_out_items_refute_gives_way_to_the_next_that_they_confirm(rewritten, left):
    rows = [
        {**row, "wants": wants, "split": split}
        for split, wants in (("validation", "nothing"), ("test", "thanks"))
        for row in ({**one, "id": f"{split}{one['id']}"} for one in ROWS[:12])
    ]

    done = burnish.compress(
        agent(thankful),
        suite(dataset=rows, split="field"),
        model=lambda prompt: f"```\n{rewritten}\n```",
        drop_untested=True,
        tag="live",
        seed=0,
    )

    report = done.report
    assert done.configuration.sections["system"] == left
    assert done.result.best.configuration == done.configuration
    assert "speak against the prompt with it" in report.rejected[0].reason
    assert (report.refuted, done.tag) == ((True, None) if left == SYSTEM else (False, "live"))
    assert report.held_out["best_score"] == (0.0 if left == SYSTEM else 1.0)
    assert done.result.record.best_candidate_id == done.result.best.candidate_id
    assert len(done.result.passed_over) == 1


def test_a_tag_is_built_on_or_refused_and_one_place_is_for_all_commands(
    project, capfd, monkeypatch
):
    monkeypatch.setenv("BURNISH_OVERRIDES", str(project / "elsewhere"))
    prompt = descriptor_of("tickets", agent().configuration)
    store = LocalPromptOverridesStore(project / "elsewhere")
    user = SectionOverride(
        path="user",
        expected_hash=prompt.section("user").content_hash,
        body="A ticket: {{text}}",
    )
    asyncio.run(store.store(prompt, user, tag="live"))

    command(capfd, "compress", "--tag", "live", "--json", code=3)
    command(capfd, "compress", "--baseline-tag", "gone", "--json", code=2)
    copied = json.loads(
        command(capfd, "compress", "--tag", "next", "--baseline-tag", "live", "--json")
    )
    built = json.loads(
        command(capfd, "compress", "--tag", "live", "--baseline-tag", "live", "--json")
    )
    under = asyncio.run(store.resolve(prompt, tag="live"))
    plain = command(capfd, "compress", "--tag", "live", "--replace", "--json")

    assert built["configuration"]["sections"]["user"] == "A ticket: {{text}}"
    assert built["configuration"]["sections"]["system"] == SHORT
    assert {path: one.body for path, one in under.sections.items()} == {
        "user": "A ticket: {{text}}",
        "system": SHORT,
    }
    assert copied["tokens"]["after"] == built["tokens"]["after"]
    assert json.loads(plain)["configuration"]["sections"]["user"] == "{{text}}"
    listed = json.loads(command(capfd, "tags", "--json"))["tags"]
    assert {one["tag"]: sorted(one["sections"]) for one in listed} == {
        "live": ["system"],
        "next": ["system", "user"],
    }
    assert "live  1 section, " in command(capfd, "tags", "--overrides", "elsewhere")


def test_apply_without_a_terminal_needs_yes_and_a_bad_tag_is_refused(project, capfd):
    command(capfd, "compress", "--apply", "--json", code=2)
    command(capfd, "compress", "--tag", "Bad Tag", "--json", code=2)
    command(capfd, "compress", "--only", "sytem", "--json", code=2)
