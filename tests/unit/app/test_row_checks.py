"""Rows checked before anything is paid: what would only mislead."""

from burnish.app.datasets.row_checks import RowChecks
from burnish.app.wiring import build_suite
from burnish.config.specs import SuiteSpec
from burnish.domain import Configuration
from burnish.evaluation.agents import PythonAgent


def doubts(labels):
    rows = [{"text": f"row {n}", "label": label} for n, label in enumerate(labels)]
    spec = SuiteSpec(dataset=rows, scorers=[{"kind": "exact_match", "field": "label"}])
    suite = build_suite(spec, open_model=None)
    agent = PythonAgent(name="a", configuration=Configuration.of({}), run=lambda c, i: "")
    return RowChecks(agent, suite).doubtful


def test_labels_that_differ_only_in_case_or_spaces_are_named():
    assert doubts(["A", " A ", "a", "b", "日本"]) == [
        "'label' is spelled ' A ' and 'A' and 'a': other case or spaces make another label"
    ]


def test_a_column_of_texts_is_taken_for_no_labels():
    assert doubts([f"text {n}" for n in range(300)] + ["x", "X"]) == []
