"""Packages of others, found by entry point: the examples at work, and packages that are broken."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import burnish
from burnish.app.datasets.suites import require_harmless
from burnish.app.kinds import scorer_kinds
from burnish.app.optimize.runners import MailboxRunner, RunnerChoice
from burnish.domain import AgentOutput, Item, ModelRequest, UsageError
from burnish.evaluation.scorers.catalog import build_scorer
from burnish.models import CachedModel, ModelSettings, open_model

EXAMPLES = Path(__file__).parents[2] / "examples"
RULES = """
[[rule]]
pattern = "(?i)refund|invoice"
answer = "billing"

[[rule]]
pattern = "."
answer = "other"
"""
CONFIG = """
[agent]
name = "tickets"
model = "rules/rules.toml"
[agent.sections]
system = "Name the queue.\\nBe brief."
user = "{{text}}"
[suite]
dataset = "rows.jsonl"
scorers = [
    { kind = "exact_match", field = "label" },
    { kind = "word_limit", words = 1, weight = 0.5 },
]
split = { train = 0.25, validation = 0.5, test = 0.25 }
[optimizer]
name = "shouting"
mark = "!!"
[models."rules/rules.toml"]
input_price = 1.0
output_price = 2.0
"""
ROWS = [
    {"id": f"r{number}", "text": text, "label": label}
    for number, (text, label) in enumerate(
        [("Where is my refund?", "billing"), ("The invoice is wrong", "billing")] * 4
        + [("The app is slow", "other"), ("It rains in", "the roof")] * 4
    )
]


def install(site: Path, group: str, entry_points: str, **modules: str) -> None:
    """What pip leaves behind: metadata with entry points, and modules beside it."""
    info = site / f"somebody_{len(list(site.glob('*.dist-info')))}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {info.stem}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\n{entry_points}\n")
    for name, source in modules.items():
        (site / f"{name}.py").write_text(source)
    importlib.invalidate_caches()


def install_example(site: Path, name: str) -> None:
    """An example package as its own pyproject.toml says."""
    folder = EXAMPLES / name
    project = tomllib.loads((folder / "pyproject.toml").read_text())
    for module in project["tool"]["setuptools"]["py-modules"]:
        shutil.copy(folder / f"{module}.py", site)
    for group, points in project["project"]["entry-points"].items():
        lines = "\n".join(f"{key} = {value}" for key, value in points.items())
        install(site, group, lines)


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder that packages are installed into."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    before = set(sys.modules)
    yield folder
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(folder)):
            del sys.modules[name]
    importlib.invalidate_caches()


@pytest.fixture
def project(tmp_path, monkeypatch):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "burnish.toml").write_text(CONFIG)
    (folder / "rules.toml").write_text(RULES)
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    monkeypatch.chdir(folder)
    monkeypatch.delenv("BURNISH_DB", raising=False)
    monkeypatch.delenv("BURNISH_RUNNER", raising=False)
    return folder


def scorer(spec, folder=Path()):
    return build_scorer(spec, open_model=open_model, folder=folder)


def run_command(*arguments: str, site: Path) -> subprocess.CompletedProcess[str]:
    """In a process that finds the packages as it starts."""
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, "-P", "-m", "burnish", *arguments],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )


def refusal(call, *arguments, **named) -> UsageError:
    with pytest.raises(UsageError) as refused:
        call(*arguments, **named)
    return refused.value


class TestExamples:
    @pytest.fixture
    def installed(self, site):
        for seam in ("optimizer", "scorer", "model", "runner"):
            install_example(site, f"third_party_{seam}")
        return site

    def test_a_project_names_all_four_in_its_configuration(self, installed, project):
        done = run_command("optimize", "--runner", "logged", "--json", site=installed)
        doctor = run_command("doctor", "--offline", "--json", site=installed)

        assert done.returncode == 0, done.stdout + done.stderr
        result = json.loads(done.stdout)
        assert result["status"] == "completed"
        assert result["trials"] == 2  # Each of its two lines in capitals.
        blocks = (project / ".burnish" / "blocks.jsonl").read_text().splitlines()
        told = [json.loads(line) for line in blocks]
        assert {one["ended"] for one in told} == {"completed"}
        assert len({one["tag"] for one in told}) == 3  # Those, and the baseline.
        found = {one["name"]: one for one in json.loads(doctor.stdout)["checks"]}
        for name in ("scorer word_limit", "model provider rules", "runner logged"):
            assert found[name]["ok"], found
        assert "burnish_rules:open_rules" in found["model provider rules"]["detail"]

    def test_python_takes_the_same_names(self, installed, project):
        agent = burnish.Agent(
            name="tickets",
            model="rules/rules.toml",
            configuration={"sections": {"system": "Name the queue.", "user": "{{text}}"}},
        )
        suite = burnish.Suite(
            dataset=ROWS,
            scorers=[
                {"kind": "exact_match", "field": "label"},
                {"kind": "word_limit", "words": 1, "weight": 0.5},
            ],
            split={"train": 0.25, "validation": 0.5, "test": 0.25},
        )

        found = burnish.evaluate(agent, suite)
        result = burnish.optimize(agent, suite, "shouting", runner="logged")

        right = sum(row["label"] != "the roof" for row in ROWS) / len(ROWS)
        assert found.summary.score == pytest.approx((right + 0.5) / 1.5)
        assert result.status == "completed"
        assert (project / ".burnish" / "blocks.jsonl").exists()

    async def test_the_scorer_says_why(self, installed):
        made = scorer({"kind": "word_limit", "words": 2})
        score = await made.score(AgentOutput(text="one two three four"), Item(id="a", data={}))

        assert (score.value, score.reason) == (0.5, "4 words where 2 are allowed")
        assert "from 1 up" in str(refusal(scorer, {"kind": "word_limit", "words": 0}))
        assert "not a whole number" in str(refusal(scorer, {"kind": "word_limit", "words": "2"}))
        assert "did you mean 'words'" in refusal(scorer, {"kind": "word_limit", "word": 2}).fix
        assert "did you mean 'word_limit'" in refusal(scorer, {"kind": "word_limits"}).fix

    async def test_the_model_is_cached_and_priced_like_any_other(self, installed, project):
        class Cache(dict):
            async def get(self, key):
                return super().get(key)

            async def put(self, key, value):
                self[key] = value

        settings = ModelSettings(input_price=1_000_000.0, output_price=0.0)
        model = open_model("rules/rules.toml", settings, cache=Cache())
        asked = ModelRequest.text("The invoice is wrong")

        first, second = await model.complete(asked), await model.complete(asked)

        assert isinstance(model, CachedModel)
        assert model.name == "rules/rules.toml"
        assert first.text == second.text == "billing"
        assert first.usage.cost_usd == first.usage.input_tokens > 0
        assert second.cached and second.reused == first.usage
        assert (await open_model("rules/rules.toml").complete(asked)).usage.cost_usd == 0.0
        assert "[[rule]]" in refusal(open_model, "rules/none.toml").fix

    def test_what_is_installed_is_named_beside_what_is_built_in(self, installed):
        unknown = refusal(open_model, "nobody/x")
        near = refusal(open_model, "rule/x")

        assert "replay/FILE, " in unknown.fix
        assert ", rules/…, " in unknown.fix
        assert "; a server that speaks OpenAI's API is openai/x" in unknown.fix
        assert near.fix.startswith("did you mean rules/x? ")
        assert refusal(RunnerChoice(runner="loged").make_adapter, "a.db", Path()).fix == (
            "did you mean 'logged'?"
        )

    def test_a_form_shows_the_scorer_with_its_settings(self, installed):
        kind = next(one for one in scorer_kinds() if one.name == "word_limit")

        require_harmless([{"kind": "word_limit", "words": 3}])
        assert kind.over_http and not kind.built_in
        assert kind.settings["properties"]["words"]["default"] == 50
        assert "weight" in kind.settings["properties"]
        assert kind.summary.startswith("1 for an output of at most `words` words")


class TestBrokenPackages:
    @pytest.mark.parametrize("value", ["bad:Thing", "absent:Thing", "empty:Thing"])
    def test_a_package_that_cannot_be_loaded_is_named(self, site, value):
        modules = {"bad": "raise RuntimeError('no disk')", "empty": ""}
        install(site, "burnish.scorers", f"mine = {value}", **modules)
        install(site, "burnish.models", f"mine = {value}")
        install(site, "burnish.runners", f"mine = {value}")

        refused = [
            refusal(scorer, {"kind": "mine"}),
            refusal(open_model, "mine/x"),
            refusal(RunnerChoice(runner="mine").make_adapter, "a.db", Path()),
        ]

        assert [one.code for one in refused] == [
            "broken_scorer",
            "broken_model_provider",
            "broken_runner",
        ]
        assert all(value in one.why and "uninstall" in one.fix for one in refused)
        shown = next(one for one in scorer_kinds() if one.name == "mine")
        assert shown.summary == "cannot be loaded"

    @pytest.mark.parametrize(
        ("source", "says"),
        [
            ("thing = 7", "is a int"),
            ("def thing(*a, **k): return object()", "object"),
            ("def thing(*a, **k): return None", "NoneType"),
        ],
    )
    def test_something_that_makes_nothing_of_use_is_named(self, site, source, says):
        for group in ("burnish.scorers", "burnish.models", "burnish.runners"):
            install(site, group, "odd = odd:thing", odd=source)

        for refused in (
            refusal(scorer, "odd"),
            refusal(open_model, "odd/x"),
            refusal(RunnerChoice(runner="odd").make_adapter, "a.db", Path()),
        ):
            assert refused.code.startswith("broken_")
            assert says in refused.why

    def test_a_provider_and_a_runner_that_fail_say_how(self, site):
        source = "def thing(*a): raise LookupError('no licence')"
        install(site, "burnish.models", "odd = odd:thing", odd=source)
        install(site, "burnish.runners", "odd = odd:thing")

        assert "LookupError: no licence" in refusal(open_model, "odd/x").why
        make = RunnerChoice(runner="odd").make_adapter
        assert "LookupError: no licence" in refusal(make, "a.db", Path()).why

    def test_a_runner_that_makes_no_adapter_is_named_before_anything_runs(self, site):
        install(site, "burnish.runners", "odd = odd:thing", odd="def thing(*a): return dict")

        make = RunnerChoice(runner="odd").make_adapter("a.db", Path())

        assert refusal(make).why == "it makes a dict"


class TestNameClashes:
    def test_what_is_built_in_wins(self, site, monkeypatch):
        monkeypatch.setenv("BURNISH_MAILBOX", "redis://far:6379/0")
        bad = "raise RuntimeError('never loaded')"
        kinds = "\n".join(f"{name} = bad:T" for name in ("regex", "llm_judge", "weighted"))
        install(site, "burnish.scorers", kinds, bad=bad)
        install(site, "burnish.models", "scripted = bad:T")
        install(site, "burnish.runners", "local = bad:T\nmailbox = bad:T")

        assert type(scorer({"kind": "regex", "pattern": "x"})).__name__ == "Regex"
        assert len([one for one in scorer_kinds() if one.name in ("regex", "llm_judge")]) == 1
        assert open_model("scripted/echo").name == "scripted/echo"
        assert RunnerChoice(runner="local").make_adapter("a.db", Path()) is None
        made = RunnerChoice(runner="mailbox").make_adapter("a.db", Path())
        assert isinstance(made, MailboxRunner)

    def test_of_two_packages_the_same_one_wins_whatever_is_installed_first(self, site):
        source = "class S:\n    fingerprint = None\n    name = '{}'\n    def score(self): ..."
        install(site, "burnish.scorers", "same = b_two:S", b_two=source.format("two"))
        install(site, "burnish.scorers", "same = a_one:S", a_one=source.format("one"))

        assert scorer("same").name == "one"


class TestSettings:
    SOURCE = """
from burnish.domain import Score

class Asks:
    fingerprint = None

    def __init__(self, model, *, share: float = 0.5):
        self.name, self.model, self.share = "asks", model, share

    async def score(self, output, item): return Score(1.0)
"""

    def test_a_model_is_opened_by_its_name(self, site):
        install(site, "burnish.scorers", "asks = asks:Asks", asks=self.SOURCE)

        made = scorer({"kind": "asks", "model": "scripted/echo", "share": 1})

        assert made.model.name == "scripted/echo"
        assert next(one for one in scorer_kinds() if one.name == "asks").model == "required"

    def test_what_is_missing_or_wrong_is_refused_before_a_model_is_opened(self, site):
        install(site, "burnish.scorers", "asks = asks:Asks", asks=self.SOURCE)

        assert refusal(scorer, {"kind": "asks"}).code == "missing_setting"
        wrong = refusal(scorer, {"kind": "asks", "model": "nobody/x", "share": "all"})
        assert wrong.code == "invalid_setting"
        assert "'all' is not a number" in wrong.why
