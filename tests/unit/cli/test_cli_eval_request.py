"""Options of `burnish eval` become overrides, and contradictions are refused."""

from __future__ import annotations

import types

import pytest

from burnish.cli.eval_request import EvalRequest, broken_items_gate, check_gates
from burnish.config.settings import load_settings
from burnish.domain import Budget, UsageError
from burnish.evaluation.broken_items import BrokenItems, Passes, broken_items

CONFIG = """
[agent]
model = "scripted/echo"
[agent.sections]
system = "old"
"user.tail" = "old {{x}}"
[suite]
dataset = "rows.jsonl"
scorers = ["exact_match"]
"""


def test_options_become_overrides_and_values_are_typed(tmp_path):
    file = tmp_path / "other.md"
    file.write_text("from a file")
    request = EvalRequest(
        model="openai/x",
        repeats=3,
        settings=("agent.parameters.temperature=0.2", "agent.version=v1"),
        sections=("system=a=b", f"tone=@{file}"),
    )

    assert request.overrides() == {
        "agent.parameters.temperature": 0.2,
        "agent.version": "v1",
        "agent.sections.system": "a=b",
        "agent.sections.tone": "from a file",
        "agent.model": "openai/x",
        "suite.repeats": 3,
    }


def test_sections_with_dots_replace_the_one_of_that_name(tmp_path):
    config = tmp_path / "burnish.toml"
    config.write_text(CONFIG)
    request = EvalRequest(sections=("user.tail=new", "system.rules=added"))

    settings = load_settings(config, request.overrides())

    assert settings.agent_spec().configuration.sections == {
        "system": "old",
        "user.tail": "new",
        "system.rules": "added",
    }


def test_a_key_below_a_plain_value_is_refused(tmp_path):
    config = tmp_path / "burnish.toml"
    config.write_text(CONFIG)

    with pytest.raises(UsageError, match=r"agent\.model is not a table"):
        load_settings(config, {"agent.model.name": "x"})


@pytest.mark.parametrize(
    "options",
    [
        {"resume": "a", "retry_errors": "b"},
        {"resume": "a", "split": "test"},
        {"retry_errors": "a", "limit": 3},
        {"resume": "a", "filter_failing": "b"},
        {"fail_on_regression": True},
        {"fail_on_broken_item": True},
    ],
)
def test_contradictions_are_refused(options):
    with pytest.raises(UsageError):
        EvalRequest(**options)


def test_the_gate_of_single_items_names_what_is_broken():
    assert broken_items_gate(BrokenItems()).passed
    names = [f"item-{n:02}" for n in range(12)]
    before = dict.fromkeys(names, Passes(1, 1))
    gate = broken_items_gate(broken_items(before, dict.fromkeys(names, Passes(0, 5))))

    assert not gate.passed
    assert gate.words.startswith("12 items broken")
    assert "item-00" in gate.words and "item-11" not in gate.words


@pytest.mark.parametrize("given", ["temperature", "=1", ""])
def test_a_setting_without_key_or_value_is_refused(given):
    with pytest.raises(UsageError, match="KEY=VALUE"):
        EvalRequest(settings=(given,)).overrides()


def test_a_missing_section_file_is_refused(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        EvalRequest(sections=(f"system=@{tmp_path}/none.md",)).overrides()


def test_going_on_keeps_what_the_configuration_depends_on():
    request = EvalRequest(
        split="test", model="m", settings=("a.b=1",), sections=("s=t",), use_cache=False
    )

    assert request.continuing_with("0199") == [
        *("eval", "--resume", "0199", "--model", "m", "--set", "a.b=1"),
        *("--section", "s=t", "--no-cache"),
    ]


def test_limits_go_along_with_what_goes_on_and_fail_the_gates_that_they_cut_short():
    request = EvalRequest(budget=Budget(max_cost_usd=1.5, max_evaluations=3), min_score=0.1)
    ended = types.SimpleNamespace(
        score=1.0,
        comparison=None,
        items=3,
        experiment=types.SimpleNamespace(limit_reached="max_evaluations", planned_items=9),
    )

    words = request.continuing_with("e1")
    gates = {gate.name: gate.passed for gate in check_gates(request, ended)}

    assert words[3:] == ["--max-evaluations", "3", "--max-cost", "1.5"]
    assert gates == {"min_score": True, "complete": False}
