"""Where the rules for urls of requests hold: in every process that runs such an agent."""

import pytest

from burnish.app.wiring import build_agent
from burnish.config.schema import AgentTable, Settings
from burnish.config.served_project import ServedProject
from burnish.config.settings import load_settings
from burnish.domain import UsageError
from burnish.evaluation.datasets import Dataset
from burnish.models.outbound_rules import URLS_VARIABLE, OutboundRules

URL = "http://127.0.0.1:9000/run"
SUITE = {"dataset": "rows.jsonl", "scorers": [{"kind": "exact_match", "field": "label"}]}


@pytest.fixture(autouse=True)
def no_allowance(monkeypatch):
    monkeypatch.delenv(URLS_VARIABLE, raising=False)


def settings(**agent):
    """As they come out of the database, in a worker or at `burnish resume`."""
    table = AgentTable(name="service", url=URL, sections={"system": "S"}, **agent)
    stored = Settings(agent=table, suite=SUITE).model_dump()
    return Settings.model_validate(stored)


def build(given):
    return build_agent(given.agent_spec(), lambda model: None)


def test_a_process_without_the_allowance_refuses_a_requested_agent():
    with pytest.raises(UsageError, match=URLS_VARIABLE) as caught:
        build(settings(requested=True))

    assert caught.value.code == "url_not_allowed"


def test_the_variable_of_the_process_that_runs_it_decides(monkeypatch):
    monkeypatch.setenv(URLS_VARIABLE, "127.0.0.1:9000")

    assert build(settings(requested=True)).name == "service"


def test_the_rules_of_a_server_stay_with_copies_of_its_settings():
    rules = OutboundRules.of(["127.0.0.1:9000"])

    copied = settings(requested=True).reaching(rules).model_copy(update={"optimizer": {}})

    assert copied.agent_spec().outbound is rules


def test_the_agent_of_the_configuration_file_is_its_owners_business(tmp_path):
    config = tmp_path / "burnish.toml"
    config.write_text(
        f'[agent]\nname = "own"\nurl = "{URL}"\n[suite]\ndataset = "rows.jsonl"\n'
        'scorers = [{ kind = "exact_match", field = "label" }]\n'
    )

    assert load_settings(config).agent_spec().outbound is None
    assert ServedProject(config).settings().agent_spec().outbound is None


def test_other_services_than_the_configured_one_run_only_if_a_request_made_them(tmp_path):
    config = tmp_path / "burnish.toml"
    config.write_text(
        '[agent]\nmodel = "local/smollm2-135m"\n[agent.sections]\nuser = "{{text}}"\n'
        '[suite]\ndataset = "rows.jsonl"\nscorers = [{ kind = "exact_match", field = "label" }]\n'
    )
    project = ServedProject(config)

    project.require_own(settings(requested=True))
    with pytest.raises(UsageError, match="another service"):
        project.require_own(settings())


def test_no_command_but_the_configured_one_runs_on_a_server(tmp_path):
    config = tmp_path / "burnish.toml"
    config.write_text(
        '[agent]\ncommand = ["agent"]\n[agent.workspace]\nnetwork = false\n'
        '[suite]\ndataset = "rows.jsonl"\nscorers = [{ kind = "exact_match", field = "label" }]\n'
    )
    project = ServedProject(config)
    own = project.settings()

    def other(**agent):
        return own.model_copy(update={"agent": own.agent.model_copy(update=agent)})

    project.require_own(other(sections={"skill": "Another text."}))
    for changed in ({"command": ["rm"]}, {"workspace": None}, {"files": {".bashrc": "skill"}}):
        with pytest.raises(UsageError, match="another command"):
            project.require_own(other(**changed))


def test_settings_with_something_else_leave_the_original_as_it_was(tmp_path):
    original = settings(requested=True)
    folder, dataset = original.folder, original.suite_spec().dataset

    original.placed_in(tmp_path)
    original.with_rows(Dataset.of([{"id": "1", "label": "a"}], name="rows"))
    original.reaching(OutboundRules.of(["127.0.0.1:9000"]))

    assert original.folder == folder
    assert original.suite_spec().dataset == dataset
    with pytest.raises(UsageError):
        build(original)
