"""Usage adds up, budgets end runs, errors speak in one shape."""

import pickle

import pytest

from burnish.domain import (
    Budget,
    BurnishError,
    ConflictError,
    InvariantError,
    Item,
    Purpose,
    Score,
    Spending,
    UnavailableError,
    Usage,
    UsageError,
)
from burnish.domain.jobs import owner_words


def test_usage_adds_up_by_purpose():
    agent = Spending.on(Purpose.AGENT, Usage(calls=2, input_tokens=10, cost_usd=0.5))
    judge = Spending.on(Purpose.JUDGE, Usage(calls=1, output_tokens=3, cost_usd=0.25))

    total = agent + judge + agent

    assert total.total == Usage(calls=5, input_tokens=20, output_tokens=3, cost_usd=1.25)
    assert total.by_purpose["judge"].calls == 1
    assert Spending.of(total.to_json()["by_purpose"]) == total


def test_an_unknown_price_makes_the_total_unknown_rather_than_too_low():
    assert (Usage(cost_usd=1.0) + Usage(cost_usd=None)).cost_usd is None


@pytest.mark.parametrize(
    ("limit", "spent"),
    [
        ({"max_trials": 3}, {"trials": 3}),
        ({"max_evaluations": 10}, {"evaluations": 11}),
        ({"max_seconds": 1.5}, {"seconds": 1.5}),
    ],
)
def test_a_reached_limit_is_named(limit, spent):
    name = next(iter(limit))

    assert Budget(**limit).exhausted(Usage(), **spent) == name
    assert Budget(**limit).exhausted(Usage(), **dict.fromkeys(spent, 0)) is None


def test_a_budget_may_be_limits_by_name():
    assert Budget.of({"max_calls": 4}) == Budget.of(Budget(max_calls=4)) == Budget(max_calls=4)
    assert Budget.of(None) == Budget()
    with pytest.raises(UsageError, match="max_call cannot be used.*there is no such limit"):
        Budget.of({"max_call": 4})
    with pytest.raises(UsageError, match="4 holds none by name"):
        Budget.of(4)


def test_calls_tokens_and_dollars_count_what_was_used():
    usage = Usage(calls=4, input_tokens=6, output_tokens=5, cost_usd=0.1)

    assert Budget(max_calls=4).exhausted(usage) == "max_calls"
    assert Budget(max_tokens=11).exhausted(usage) == "max_tokens"
    assert Budget(max_cost_usd=0.1).exhausted(usage) == "max_cost_usd"
    assert Budget(max_calls=5, max_tokens=12, max_cost_usd=0.2).exhausted(usage) is None


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), True, "10"])
def test_a_limit_that_is_no_limit_is_refused(value):
    with pytest.raises(UsageError, match="max_calls"):
        Budget(max_calls=value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "0.5", None])
def test_a_score_that_is_no_number_is_refused(value):
    with pytest.raises(UsageError, match="score"):
        Score(value)


def test_a_score_may_be_a_truth_value():
    assert Score(True).value == 1.0
    assert Score.of(Score(0.25, reason="half", passed=False).to_json()) == Score(
        0.25, reason="half", passed=False
    )


def test_an_items_hash_is_of_its_content_alone():
    data = {"text": "a", "n": 1}

    assert Item(id="1", data=data).hash == Item(id="2", data={"n": 1.0, "text": "a"}).hash
    assert Item(id="1", data=data).hash != Item(id="1", data={**data, "n": 2}).hash


@pytest.mark.parametrize(
    ("kind", "exit_code", "status", "retryable"),
    [
        (UsageError, 2, 422, False),
        (ConflictError, 3, 409, False),
        (UnavailableError, 4, 503, True),
        (InvariantError, 70, 500, False),
    ],
)
def test_each_family_has_its_codes_and_one_shape(kind, exit_code, status, retryable):
    error = kind(what="it broke", why="a reason", fix="mend it", code="special")

    again = pickle.loads(pickle.dumps(error))

    assert (kind.exit_code, kind.http_status) == (exit_code, status)
    assert isinstance(error, BurnishError)
    assert (
        again.to_json()
        == error.to_json()
        == {
            "code": "special",
            "message": "it broke: a reason",
            "fix": "mend it",
            "retryable": retryable,
        }
    )


def test_an_owner_is_named_by_process_and_machine():
    assert owner_words("host|boot|pid:[402]|11568|139097|4919") == "process 11568 on host"
    assert owner_words("somebody") == "somebody"
