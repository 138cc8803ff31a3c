"""What is kept of a run's start, what speaks against a promotion, and sections written back."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from types import SimpleNamespace

import pytest

from burnish.app.agents.project_files import plan_writes, staged
from burnish.app.agents.promotion import prepare_promotion
from burnish.app.optimize.run_spec import require_unchanged, spec_of, stored_settings
from burnish.config.settings import load_settings
from burnish.domain import Configuration, ConflictError, OptimizationStatus, UsageError
from burnish.testing.samples.optimizations import make_candidate, make_record, make_trial

CONFIG = """
[agent]
model = "scripted/echo"
output_schema = "answer.json"
[agent.sections]
user = "{{x}}"
[agent.sections.system]
rules = { file = "rules.md" }
[suite]
dataset = "rows.jsonl"
scorers = ["exact_match"]
[budget]
max_cost_usd = 3
[models]
cache = false
[models.openai]
api_key_env = "MY_KEY"
api_key = "sk-canary"
"""


@pytest.fixture
def settings(tmp_path):
    (tmp_path / "burnish.toml").write_text(CONFIG)
    (tmp_path / "rules.md").write_text("Be kind.\n")
    (tmp_path / "answer.json").write_text('{"type": "object"}')
    return load_settings(tmp_path / "burnish.toml")


def optimization_of(settings, fingerprint="f"):
    configuration = Configuration.of(settings.agent_spec().configuration)
    return SimpleNamespace(
        agent=SimpleNamespace(configuration=configuration, fingerprint=fingerprint),
        suite=SimpleNamespace(scorers=SimpleNamespace(fingerprint="s"), asked=lambda agent: agent),
        models={},
    )


def test_a_run_goes_on_with_what_it_was_started_with(settings, tmp_path):
    spec = spec_of(settings, optimization_of(settings))
    for name in ("rules.md", "answer.json", "burnish.toml"):
        (tmp_path / name).unlink()

    again = stored_settings(make_record(spec=spec), tmp_path)

    assert again.agent_spec().configuration.sections == {
        "user": "{{x}}",
        "system.rules": "Be kind.",
    }
    assert again.agent.output_schema == {"type": "object"}
    assert again.budget_spec() == settings.budget_spec()
    assert again.folder == tmp_path


def test_no_key_is_kept(settings):
    spec = spec_of(settings, optimization_of(settings))

    assert "sk-canary" not in str(spec)
    assert spec["settings"]["models"] == {"cache": False, "openai": {"api_key_env": "MY_KEY"}}


def test_a_folder_that_has_moved_is_where_the_config_is_now(settings, tmp_path):
    spec = {**spec_of(settings, optimization_of(settings)), "folder": "/nowhere/at/all"}

    assert stored_settings(make_record(spec=spec), tmp_path).folder == tmp_path


def test_a_run_from_python_is_resumed_from_python(tmp_path):
    with pytest.raises(UsageError, match=r'burnish\.optimize\(…, resume="o1"\)') as caught:
        stored_settings(make_record(), tmp_path)

    assert caught.value.exit_code == 2


@pytest.mark.parametrize("change", [{"version": 99}, {"settings": {"agent": {"soup": 1}}}])
def test_settings_of_another_version_are_refused_loudly(settings, tmp_path, change):
    spec = {**spec_of(settings, optimization_of(settings)), **change}

    with pytest.raises(ConflictError, match="this version of burnish"):
        stored_settings(make_record(spec=spec), tmp_path)


def test_changed_code_is_refused_and_what_cannot_be_known_is_not(settings):
    record = make_record(spec=spec_of(settings, optimization_of(settings)))

    require_unchanged(record, optimization_of(settings))
    require_unchanged(record, optimization_of(settings, fingerprint=None))
    with pytest.raises(ConflictError, match="code or model has changed"):
        require_unchanged(record, optimization_of(settings, fingerprint="g"))


PROJECT = """# ours
[agent]
name = "a"  # the name
examples = []

[agent.sections]
system = { file = "system.md" }  # in a file
user = "{{x}}"  # the ticket
"tools.find" = "Finds."
[agent.sections.deep]
rules = "Old."

[agent.parameters]
temperature = 0.5  # warm

[suite]
dataset = "rows.jsonl"  # untouched
"""
BEFORE = {
    "sections": {
        "system": "Old words.\nMore.",
        "user": "{{x}}",
        "tools.find": "Finds.",
        "deep.rules": "Old.",
    },
    "parameters": {"temperature": 0.5},
}


@pytest.fixture
def project(tmp_path):
    (tmp_path / "burnish.toml").write_text(PROJECT)
    (tmp_path / "system.md").write_bytes(b"Old words.\r\nMore.\r\n")
    return tmp_path / "burnish.toml"


def changed(**parts):
    sections = {**BEFORE["sections"], **parts.pop("sections", {})}
    return Configuration.of({**BEFORE, "sections": sections, **parts})


def planned(project, after, name="a"):
    return plan_writes(Configuration.of(BEFORE), after, project, name)


def test_a_winner_is_written_as_a_whole_and_comments_stay(project):
    text = 'Say "so":\n{{x}}\n\\end'
    after = changed(
        sections={"system": "New.", "user": text, "tools.find": "Finds all.", "deep.rules": "New."},
        parameters={"temperature": 0.2, "label_words": {"a b": "x"}},
        examples=[{"x": "two\nlines", "label": "é"}, {"x": "b", "n": [1, {"k": 2}]}],
    )

    with staged(planned(project, after)):
        assert project.read_text() == PROJECT, "not before the end"

    written = project.read_text()
    agent = tomllib.loads(written)["agent"]
    assert agent["sections"]["user"] == text
    assert agent["sections"]["tools.find"] == "Finds all."
    assert agent["sections"]["deep"]["rules"] == "New."
    assert agent["parameters"] == {"temperature": 0.2, "label_words": {"a b": "x"}}
    assert agent["examples"] == [dict(one) for one in after.examples]
    assert (project.parent / "system.md").read_bytes() == b"New.\r\n", "line ends stay"
    for comment in ("# ours", "# the name", "# in a file", "# the ticket", "# warm", "# untouched"):
        assert comment in written
    assert sorted(path.name for path in project.parent.iterdir()) == ["burnish.toml", "system.md"]


def test_a_byte_order_mark_is_no_change_of_a_file(project):
    prompt = project.parent / "system.md"
    prompt.write_bytes(b"\xef\xbb\xbf" + prompt.read_bytes())

    with staged(planned(project, changed(sections={"system": "New."}))):
        pass

    assert prompt.read_bytes() == b"New.\r\n"


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("system.md", "Somebody's words."),
        ("burnish.toml", PROJECT.replace('"{{x}}"', '"{{x}} now"')),
        ("burnish.toml", PROJECT.replace("0.5", "0.7")),
        ("burnish.toml", PROJECT.replace("examples = []", 'examples = [{ x = "mine" }]')),
    ],
)
def test_what_somebody_changed_is_not_overwritten(project, place, text):
    (project.parent / place).write_text(text)
    after = changed(
        sections={"system": "New.", "user": "{{x}}!"},
        parameters={"temperature": 0.1},
        examples=[{"x": "a"}],
    )

    with pytest.raises(ConflictError, match="changed since the run started"):
        planned(project, after)


def test_what_cannot_be_written_as_a_whole_is_refused(project):
    with pytest.raises(UsageError, match="null"):
        planned(project, changed(sections={"system": "New."}, examples=[{"x": None}]))
    with pytest.raises(UsageError, match="it is of the agent 'a'"):
        planned(project, changed(sections={"system": "New."}), name="other")
    (project.parent / "system.md").unlink()
    with pytest.raises(UsageError, match="cannot be written"):
        planned(project, changed(sections={"system": "New."}))


def test_when_the_promotion_fails_no_file_is_touched(project):
    writes = planned(project, changed(sections={"system": "New."}))

    with pytest.raises(ZeroDivisionError), staged(writes):
        raise ZeroDivisionError

    assert (project.parent / "system.md").read_bytes() == b"Old words.\r\nMore.\r\n"
    assert len(list(project.parent.iterdir())) == 2


class Trials:
    def __init__(self, scores):
        self._scores = scores

    async def list_trials(self, optimization_id):
        return [
            replace(make_trial(number), objective_score=score)
            for number, score in enumerate(self._scores)
        ]


class NoVersions:
    async def active_version(self, agent_name):
        return None


class NoExperiments:
    async def list_experiments(self, **_):
        return []


def workspace_of(trials):
    return SimpleNamespace(optimizations=trials, agents=NoVersions(), experiments=NoExperiments())


def improvement(**changes):
    good = {"delta": 0.2, "ci_low": 0.1, "ci_high": 0.3, "p_value": 0.01, "held_out": True}
    return {**good, **changes}


@pytest.mark.parametrize(
    ("number", "scores", "evidence", "doubt"),
    [
        (1, [0.5, 0.7], improvement(), None),
        (1, [0.5, 0.7], improvement(p_value=0.3), "may be chance"),
        (1, [0.5, 0.7], improvement(ci_low=-0.1), "may be chance"),
        (1, [0.5, 0.7], improvement(delta=-0.1, ci_low=-0.3), "no better than the baseline"),
        (1, [0.5, 0.7], improvement(held_out=False), "may be luck"),
        (1, [0.5, 0.7], None, "may be luck"),
        (2, [0.5, 0.7, 0.6], improvement(), "this is another"),
        (2, [0.5, 0.7, 0.5], improvement(), "did not beat the baseline: 0.500 against 0.500"),
        (2, [0.5, 0.7], improvement(), "never scored"),
        (0, [0.5, 0.7], improvement(), "the baseline itself"),
    ],
)
async def test_what_speaks_against_a_candidate_is_said(number, scores, evidence, doubt):
    record = make_record(
        status=OptimizationStatus.COMPLETED,
        result={"improvement": evidence, "best": {"candidate_id": "o1-1"}},
    )
    workspace = workspace_of(Trials(scores))

    promotion = await prepare_promotion(
        workspace, record, make_candidate(0), make_candidate(number)
    )

    assert len(promotion.doubts) == (0 if doubt is None else 1)
    assert doubt is None or doubt in promotion.doubts[0]


@pytest.mark.parametrize(
    ("evidence", "doubt"),
    [
        (improvement(delta=0.0, ci_low=-0.1, ci_high=0.1), None),
        (improvement(delta=-0.2, ci_low=-0.3, ci_high=-0.1), "worse than the baseline"),
        (None, "not compared on held-out items"),
    ],
)
async def test_a_compression_need_not_be_better(evidence, doubt):
    record = make_record(
        status=OptimizationStatus.COMPLETED,
        optimizer_name="compress",
        result={"improvement": evidence, "best": {"candidate_id": "o1-1"}},
    )
    workspace = workspace_of(Trials([0.5, 0.5]))

    promotion = await prepare_promotion(workspace, record, make_candidate(0), make_candidate(1))

    assert len(promotion.doubts) == (0 if doubt is None else 1)
    assert doubt is None or doubt in promotion.doubts[0]
