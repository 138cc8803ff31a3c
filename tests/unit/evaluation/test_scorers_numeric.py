import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.domain import AgentOutput, Item, UsageError
from burnish.evaluation.scorers.numeric import Number, NumberReader, NumericTolerance


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("42", 42),
        ("The answer is 42.", 42),
        ("3 + 4 = 7", 7),
        ("1,234,567.89 in all", 1234567.89),
        ("1\u202f234", 1234),
        ("1_000", 1000),
        ("$1,200", 1200),
        ("-$5", -5),
        ("it fell to -3.5 degrees", -3.5),
        ("\u22127", -7),
        ("between 3-5", 5),
        ("GPT-4 says 12", 12),
        ("12 tons of CO2", 12),
        ("- 5 apples", 5),
        ("6.02e23", 6.02e23),
        (".5", 0.5),
        ("**42**", 42),
        ("\\boxed{42}", 42),
        ("答案是42", 42),
        ("1,2,3", 3),
        ("12kg", 12),
    ],
)
def test_the_last_number_of_a_text(text, value):
    assert NumberReader(".").last(text) == Number(value)


def test_a_decimal_comma():
    assert NumberReader(",").last("zusammen 1.234,5 Euro") == Number(1234.5)


@pytest.mark.parametrize("text", ["", "none", "CO2", "NaN", "1e999", "inf"])
def test_no_number(text):
    assert NumberReader(".").last(text) is None


@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_any_float_is_read_back(value):
    assert NumberReader(".").last(f"so: {value!r}") == Number(value)


@given(value=st.integers(-(10**15), 10**15))
def test_any_grouped_integer_is_read_back(value):
    assert NumberReader(".").last(f"so: {value:,}") == Number(float(value))


async def value_of(text, expected, data=None, **settings):
    scorer = NumericTolerance("answer", **settings)
    output = AgentOutput(text=text, data=data)
    return await scorer.score(output, Item(id="1", data={"answer": expected}))


@pytest.mark.parametrize(
    ("text", "expected", "settings", "value"),
    [
        ("42", 42, {}, 1),
        ("42.0", "42", {}, 1),
        ("43", 42, {}, 0),
        ("0.3", 0.1 + 0.2, {}, 1),
        ("1.1", 1.0, {"absolute": 0.1}, 1),
        ("1.11", 1.0, {"absolute": 0.1}, 0),
        ("105", 100, {"relative": 0.05}, 1),
        ("106", 100, {"relative": 0.05}, 0),
        ("106", 100, {"relative": 0.05, "absolute": 10}, 1),
        ("12%", 0.12, {}, 1),
        ("12 percent", 12, {}, 1),
        ("0.12", "12%", {}, 1),
        ("12%", "12%", {}, 1),
        ("0.12%", "12%", {}, 0),
        ("12", 0.12, {}, 0),
        ("5", [4, 5], {}, 1),
    ],
)
async def test_near_enough(text, expected, settings, value):
    assert (await value_of(text, expected, **settings)).value == value


async def test_a_number_in_data_comes_before_the_text():
    assert (await value_of("see 7 notes", 42, data=42)).value == 1


async def test_a_reason_says_what_is_missing():
    score = await value_of("no idea", 42)

    assert (score.value, score.error) == (0, None)
    assert "found no number" in score.reason


@pytest.mark.parametrize("expected", ["many", True, None, [], {"a": 1}, [1, "x"]])
async def test_a_field_without_a_number_is_an_error(expected):
    assert (await value_of("1", expected)).error


@pytest.mark.parametrize(
    "settings", [{"absolute": -1}, {"relative": float("nan")}, {"decimal": ";"}]
)
def test_unusable_settings_are_refused(settings):
    with pytest.raises(UsageError):
        NumericTolerance("a", **settings)
