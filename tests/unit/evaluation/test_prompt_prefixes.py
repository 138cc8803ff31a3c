"""Prompt caching: prompts of judge and refiner begin alike; cached tokens are counted and priced."""

import pytest
from bench.caching import measured, one_mark, shared

from burnish.app.compress.report import _savings
from burnish.domain import AgentOutput, Spending, Usage, UsageError
from burnish.evaluation.refine.refiner import refine_messages
from burnish.evaluation.scorers.judge import fenced, judge_messages
from burnish.models.pricing import price_call
from burnish.models.settings import ModelSettings
from burnish.testing.samples.experiments import make_round

FIELDS = {"document": "long text " * 20}
PRICES = {"input_price": 10.0, "cached_input_price": 1.0, "output_price": 20.0}


def beginning(one, other):
    texts = [messages[1].content for messages in (one, other)]
    return texts[0][: shared(*texts)]


def test_prompts_about_one_item_begin_alike_up_to_what_differs():
    judged = [judge_messages("s", AgentOutput(text=text), FIELDS) for text in ("a", "b")]
    refined = [refine_messages(make_round(score=score), FIELDS) for score in (0.1, 0.2)]

    assert FIELDS["document"] in beginning(*judged)
    assert "<<<OUTPUT " in beginning(*judged)
    assert "<<<LATEST EVALUATION " in beginning(*refined)


def test_no_text_holds_the_mark_of_any_part():
    field = fenced([("FIELD x", "one")])
    mark = field.split()[2]

    told = fenced([("FIELD x", "one"), ("OUTPUT", f"FIELD x {mark}>>>")])

    assert not told.startswith(field)
    for line in told.splitlines():
        if line.startswith("<<<"):
            assert line.split()[-1] != mark


def test_a_provider_that_keeps_beginnings_has_most_of_what_judges_read():
    with one_mark():
        before = measured(items=1, wordings=2, words=900)
    after = measured(items=1, wordings=2, words=900)

    assert [before.by_purpose[one].cached_share for one in ("judge", "refine")] == [0.0, 0.0]
    assert after.by_purpose["judge"].cached_share > 0.7
    assert after.by_purpose["refine"].cached_share > 0.6
    assert after.total.cost_usd < before.total.cost_usd
    assert after.to_json()["cached_share"] == after.total.cached_share


def test_the_share_is_of_tokens_that_were_read():
    assert Usage(calls=1).cached_share is None
    assert Usage(input_tokens=4, cached_tokens=3).token_words == "4 tokens in (75% cached) · 0 out"
    told = Spending({"agent": Usage(input_tokens=4, cached_tokens=3)}).to_json()
    assert told["by_purpose"]["agent"]["cached_share"] == 0.75
    assert Spending.of(told["by_purpose"]).total.cached_tokens == 3


def test_cached_tokens_have_a_price_of_their_own():
    usage = Usage(calls=1, input_tokens=1_000_000, cached_tokens=400_000, output_tokens=0)

    own = price_call("m", usage, settings=ModelSettings(**PRICES))
    without = price_call("m", usage, settings=ModelSettings(input_price=10.0, output_price=20.0))

    assert (own, without) == (pytest.approx(6.4), pytest.approx(10.0))
    with pytest.raises(UsageError, match="cached_input_price"):
        ModelSettings(cached_input_price=1.0)


def test_what_a_shorter_prompt_saves_counts_with_the_price_of_cached_tokens():
    tables = {"openai/m": PRICES}

    paid, cached = (
        _savings(1000, "openai/m", 100, tables, cached_share=share) for share in (None, 0.8)
    )

    assert paid.usd_per_call == pytest.approx(0.01)
    assert cached.usd_per_call == pytest.approx(0.0028)
    assert cached.cached_share == 0.8
