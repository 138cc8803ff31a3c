import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.domain import AgentOutput, Item, UsageError
from burnish.evaluation.scorers.patterns import Contains, Regex
from burnish.evaluation.scorers.text import ExactMatch, Similarity


def item(**data):
    return Item(id="i1", data=data)


def said(text, data=None):
    return AgentOutput(text=text, data=data)


class TestExactMatch:
    @pytest.mark.parametrize(
        ("expected", "text", "value"),
        [
            ("positive", "positive", 1.0),
            ("positive", " positive\n", 1.0),
            ("positive", "Positive", 0.0),
            ("café", "cafe\u0301", 1.0),
            (3, "3", 1.0),
            (3, "3.0", 1.0),
            (3, "three", 0.0),
            (1, "true", 0.0),
            (True, "true", 1.0),
            (True, "True", 1.0),
            (False, "true", 0.0),
            (["yes", "yep"], "yep", 1.0),
            (["yes", "yep"], "no", 0.0),
            (["a", "b"], '["a", "b"]', 1.0),
            ({"a": 1}, '{"a": 1.0}', 1.0),
            ({"a": 1}, "nothing", 0.0),
        ],
    )
    async def test_compares_with_the_field(self, expected, text, value):
        score = await ExactMatch("label").score(said(text), item(label=expected))

        assert (score.value, score.error, score.name) == (value, None, "exact_match")

    async def test_case_and_space_matter_as_told(self):
        loose = ExactMatch("label", ignore_case=True)
        tight = ExactMatch("label", strip=False)

        assert (await loose.score(said("YES"), item(label="yes"))).value == 1.0
        assert (await tight.score(said("yes "), item(label="yes"))).value == 0.0

    async def test_the_reason_says_what_was_expected_and_stays_short(self):
        score = await ExactMatch("label").score(said("x" * 10_000), item(label="yes"))

        assert score.reason.startswith('expected "yes", got "xxx')
        assert len(score.reason) < 300

    async def test_data_is_compared_by_value(self):
        output = said("see data", {"a": [1, 2]})

        assert (await ExactMatch("want").score(output, item(want={"a": [1, 2.0]}))).value == 1.0

    async def test_a_missing_field_is_an_error_that_names_the_fields_present(self):
        score = await ExactMatch("label").score(said("yes"), item(text="t", lable="yes"))

        assert score.value == 0.0
        assert score.error == "the item has no field 'label'; it has 'text', 'lable'"

    async def test_null_is_nothing_to_compare_with(self):
        score = await ExactMatch("label").score(said(""), item(label=None))

        assert "null" in score.error

    async def test_a_dotted_field_leads_into_objects_and_a_literal_one_wins(self):
        scorer = ExactMatch("a.b")

        assert scorer.fields_needed == ("a.b",)
        assert (await scorer.score(said("x"), item(a={"b": "x"}))).value == 1.0
        assert (await scorer.score(said("y"), Item(id="1", data={"a.b": "y", "a": 1}))).value == 1.0

    def test_the_fingerprint_follows_the_settings_and_not_the_name(self):
        assert ExactMatch("a").fingerprint == ExactMatch("a", name="other").fingerprint
        assert len({ExactMatch("a").fingerprint, ExactMatch("b").fingerprint}) == 2
        assert ExactMatch("a").fingerprint != ExactMatch("a", ignore_case=True).fingerprint

    def test_an_empty_field_is_refused(self):
        with pytest.raises(UsageError, match="field"):
            ExactMatch("")

    @given(text=st.text())
    async def test_text_is_always_equal_to_itself(self, text):
        assert (await ExactMatch("t").score(said(text), item(t=text))).value == 1.0


class TestContains:
    async def test_finds_a_text_or_the_field(self):
        assert (await Contains(text="cat").score(said("a cat sat"), item())).value == 1.0
        assert (await Contains("word").score(said("a cat sat"), item(word="cat"))).value == 1.0
        assert (await Contains("word").score(said("a cat sat"), item(word="Cat"))).value == 0.0
        assert (await Contains("word").score(said("year 1984"), item(word=1984))).value == 1.0

    async def test_all_or_any_of_several(self):
        words = item(words=["cat", "dog"])

        every = await Contains("words").score(said("a cat"), words)
        some = await Contains("words", match="any").score(said("a cat"), words)

        assert (every.value, some.value) == (0.0, 1.0)
        assert '"dog"' in every.reason
        assert '"cat",' not in every.reason

    @pytest.mark.parametrize("empty", ["", None, [], [""]])
    async def test_nothing_to_look_for_is_an_error_not_a_hit(self, empty):
        assert (await Contains("word").score(said("x"), item(word=empty))).error

    @pytest.mark.parametrize(
        "settings",
        [{}, {"field": "a", "text": "b"}, {"text": ""}, {"field": "a", "match": "most"}],
    )
    def test_unusable_settings_are_refused(self, settings):
        with pytest.raises(UsageError):
            Contains(**settings)


class TestRegex:
    async def test_a_pattern_is_searched(self):
        scorer = Regex(r"^total: \d+$", flags="im")

        assert (await scorer.score(said("ok\nTotal: 12"), item())).value == 1.0
        missed = await scorer.score(said("none"), item())
        assert (missed.value, "not found" in missed.reason) == (0.0, True)

    async def test_the_items_field_may_hold_the_pattern(self):
        scorer = Regex(field="pattern")

        assert (await scorer.score(said("abc"), item(pattern="b."))).value == 1.0
        broken = await scorer.score(said("abc"), item(pattern="("))
        assert "not a regular expression" in broken.error

    async def test_what_a_pattern_captures_is_compared_with_the_field(self):
        scorer = Regex(r"Answer: (\w+)", field="label", flags="i")

        right = await scorer.score(said("Well. answer: YES."), item(label="yes"))
        wrong = await scorer.score(said("Answer: no"), item(label="yes"))

        assert (right.value, wrong.value) == (1.0, 0.0)
        assert wrong.reason == 'expected "yes", found "no"'

    def test_a_bad_pattern_is_refused_with_its_position(self):
        with pytest.raises(UsageError, match="at position 3"):
            Regex("abc[(")

    def test_an_unknown_flag_is_refused(self):
        with pytest.raises(UsageError, match="'q' is not a flag"):
            Regex("a", flags="iq")


class TestSimilarity:
    async def test_is_between_0_and_1(self):
        scorer = Similarity("want")

        assert (await scorer.score(said("kitten"), item(want="kitten"))).value == 1.0
        assert (await scorer.score(said("abc"), item(want="xyz"))).value == 0.0
        near = await scorer.score(said("kitten"), item(want="sitten"))
        assert 0.8 < near.value < 0.9
        assert near.passed is None

    async def test_the_most_alike_alternative_counts_and_a_threshold_decides(self):
        scorer = Similarity("want", threshold=0.8, ignore_case=True)

        score = await scorer.score(said("KITTEN"), item(want=["dog", "kittens"]))

        assert (score.value > 0.9, score.passed) == (True, True)
        assert (await scorer.score(said("KITTEN"), item(want="dog"))).passed is False

    def test_a_threshold_out_of_range_is_refused(self):
        with pytest.raises(UsageError, match="between 0 and 1"):
            Similarity("a", threshold=80)
