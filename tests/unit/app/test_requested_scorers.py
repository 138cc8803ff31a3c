"""Scorers of requests: no code, no files, no pattern without an end."""

import pytest

from burnish.app.datasets.suites import require_harmless
from burnish.domain import UsageError


@pytest.mark.parametrize(
    "scorer",
    [
        {"kind": "exact_match", "field": "label"},
        {"kind": "regex", "pattern": r"answer: (\w+)", "field": "label"},
        {"kind": "regex", "pattern": r"^\(?[a-z]+\)?$"},
        {"kind": "json_schema", "schema": {"type": "object"}},
        {"kind": "judge", "criteria": "is it kind?", "model": "openai/x"},
        {"kind": "asserts", "field": "checks", "model": "openai/x"},
        {"kind": "weighted", "scorers": [{"kind": "contains", "text": "x", "weight": 2}]},
    ],
)
def test_built_in_kinds_pass(scorer):
    require_harmless([scorer])


@pytest.mark.parametrize(
    "scorer",
    [
        {"kind": "python", "function": "os:system"},
        {"kind": "function", "function": "os:system"},
        {"kind": "os:system"},
        {"kind": ["python"]},
        {},
        {"kind": "weighted", "scorers": [{"kind": "python", "function": "os:system"}]},
        {"kind": "weighted", "scorers": ["os:system"]},
        {"kind": "weighted"},
    ],
)
def test_code_is_refused_however_deep(scorer):
    with pytest.raises(UsageError) as caught:
        require_harmless([{"kind": "exact_match"}, scorer])

    assert caught.value.code in ("code_not_allowed", "scorer_not_allowed")


@pytest.mark.parametrize(
    "scorer",
    [
        {"kind": "json_schema", "schema": "/etc/passwd"},
        {"kind": "judge", "criteria": {"file": "/etc/passwd"}, "model": "openai/x"},
        {"kind": "regex", "field": "label"},
        {"kind": "regex", "pattern": "(a+)+$"},
        {"kind": "regex", "pattern": "(a|aa)*b"},
        {"kind": "regex", "pattern": "(a){5,}"},
        {"kind": "regex", "pattern": ".*.*.*.*x"},
        {"kind": "regex", "pattern": "a" * 501},
    ],
)
def test_files_and_endless_patterns_are_refused(scorer):
    with pytest.raises(UsageError) as caught:
        require_harmless([scorer])

    assert caught.value.code == "scorer_not_allowed"
