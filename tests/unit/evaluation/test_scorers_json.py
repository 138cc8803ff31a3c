import json

import pytest

from burnish.domain import AgentOutput, Item, UsageError
from burnish.evaluation.scorers.json_scorers import JsonField, JsonSchema
from burnish.evaluation.scorers.json_values import NotJsonError, parse_json

SCHEMA = {
    "type": "object",
    "properties": {"label": {"enum": ["a", "b"]}, "n": {"type": "integer"}},
    "required": ["label"],
}


def said(text, data=None):
    return AgentOutput(text=text, data=data)


def item(**data):
    return Item(id="1", data=data)


class TestParsing:
    @pytest.mark.parametrize(
        "text",
        [
            '{"a": 1}',
            ' {"a": 1}\n',
            '```json\n{"a": 1}\n```',
            '```\n{"a": 1}\n```',
            '\ufeff{"a": 1}',
        ],
    )
    def test_json_and_fenced_json_are_read(self, text):
        assert parse_json(text) == {"a": 1}

    @pytest.mark.parametrize(
        "text", ["", "no", '{"a": 1', "{'a': 1}", "NaN", 'So: {"a": 1}', "[" * 100_000]
    )
    def test_anything_else_is_not_json(self, text):
        with pytest.raises(NotJsonError):
            parse_json(text)

    def test_repair_mends_json_and_never_picks_it_out_of_prose(self):
        assert parse_json("{'a': 1,", repair=True) == {"a": 1}
        with pytest.raises(NotJsonError):
            parse_json('So: {"a": 1}', repair=True)
        with pytest.raises(NotJsonError):
            parse_json('{"a": NaN}', repair=True)
        with pytest.raises(NotJsonError, match="more than one"):
            parse_json('{"a": 1} not {"a": 2}', repair=True)
        assert parse_json('{"a": 1} as asked.', repair=True) == {"a": 1}


class TestJsonSchema:
    async def test_valid_output_scores_1(self):
        scorer = JsonSchema(SCHEMA)

        assert (await scorer.score(said('{"label": "a", "n": 2}'), item())).value == 1.0
        assert (await scorer.score(said("see data", {"label": "b"}), item())).value == 1.0

    async def test_each_fault_is_named_with_its_place(self):
        score = await JsonSchema(SCHEMA).score(said('{"label": "c", "n": "x"}'), item())

        assert score.value == 0.0
        assert "$.label: 'c' is not one of ['a', 'b']" in score.reason
        assert "$.n:" in score.reason

    async def test_text_that_is_no_json_is_a_bad_output_not_an_error(self):
        score = await JsonSchema(SCHEMA).score(said('{"label": '), item())

        assert (score.value, score.error) == (0.0, None)
        assert "line 1, column" in score.reason

    async def test_broken_json_counts_only_with_repair(self):
        broken = said("{label: 'a'")

        assert (await JsonSchema(SCHEMA).score(broken, item())).value == 0.0
        assert (await JsonSchema(SCHEMA, repair=True).score(broken, item())).value == 1.0

    async def test_a_schema_file(self, tmp_path):
        path = tmp_path / "schema.json"
        path.write_text(json.dumps(SCHEMA))

        scorer = JsonSchema(path)

        assert scorer.fingerprint == JsonSchema(SCHEMA).fingerprint
        assert (await scorer.score(said('{"label": "a"}'), item())).value == 1.0

    def test_a_missing_or_broken_schema_is_refused(self, tmp_path):
        (tmp_path / "broken.json").write_text('{"type": ')
        (tmp_path / "list.json").write_text("[]")

        with pytest.raises(UsageError, match="cannot be read") as missing:
            JsonSchema(tmp_path / "none.json")
        with pytest.raises(UsageError, match="line 1, column 10"):
            JsonSchema(tmp_path / "broken.json")
        with pytest.raises(UsageError, match="not an object"):
            JsonSchema(tmp_path / "list.json")
        with pytest.raises(UsageError, match=r"\$\.type"):
            JsonSchema({"type": "strin"})
        assert missing.value.code == "missing_file"

    @pytest.mark.parametrize("reference", ["http://127.0.0.1:9/x.json", "#/$defs/none", "b.json"])
    def test_a_reference_that_leads_nowhere_is_refused_and_nothing_is_fetched(self, reference):
        with pytest.raises(UsageError, match="leads nowhere"):
            JsonSchema({"properties": {"a": {"$ref": reference}}})

    async def test_inner_references_work(self):
        schema = {"$defs": {"n": {"type": "integer"}}, "items": {"$ref": "#/$defs/n"}}

        assert (await JsonSchema(schema).score(said("[1, 2]"), item())).value == 1.0
        assert (await JsonSchema(schema).score(said('["x"]'), item())).value == 0.0


class TestJsonField:
    @pytest.mark.parametrize(
        ("text", "expected", "settings", "value"),
        [
            ('{"a": {"b": ["x", "y"]}}', "y", {"path": "a.b[1]"}, 1),
            ('{"a": {"b": ["x", "y"]}}', "y", {"path": "$.a.b[-1]"}, 1),
            ('{"a.b": "y"}', "y", {"path": '["a.b"]'}, 1),
            ("[7]", 7, {"path": "$[0]"}, 1),
            ('{"a": " Y "}', "y", {"path": "a"}, 0),
            ('{"a": " Y "}', "y", {"path": "a", "ignore_case": True}, 1),
            ('{"a": 1.04}', 1, {"path": "a", "absolute": 0.05}, 1),
            ('{"a": 1.06}', 1, {"path": "a", "absolute": 0.05}, 0),
            ('{"a": 3}', "3.0", {"path": "a"}, 1),
            ('{"a": 3}', "three", {"path": "a"}, 0),
            ('{"a": true}', "True", {"path": "a"}, 1),
            ('{"a": true}', 1, {"path": "a"}, 0),
            ('{"a": null}', None, {"path": "a"}, 1),
            ('{"a": [1, 2]}', [1.0, 2], {"path": "a"}, 1),
            ('{"a": [2, 1]}', [1, 2], {"path": "a"}, 0),
            ('{"a": "x"}', ["x", "y"], {"path": "a"}, 1),
        ],
    )
    async def test_the_value_at_the_path_is_compared(self, text, expected, settings, value):
        scorer = JsonField(field="want", **settings)

        assert (await scorer.score(said(text), item(want=expected))).value == value

    async def test_a_path_that_leads_nowhere_says_what_is_there(self):
        scorer = JsonField("a.c", "want")

        missing = await scorer.score(said('{"a": {"b": 1}}'), item(want=1))
        flat = await scorer.score(said('{"a": 3}'), item(want=1))
        prose = await scorer.score(said("hello"), item(want=1))

        assert "no key 'c' among 'b'" in missing.reason
        assert "cannot go to 'c' in 3" in flat.reason
        assert "not JSON" in prose.reason
        assert not (missing.error or flat.error or prose.error)

    @pytest.mark.parametrize("path", ["", "a[", "a[x]", "a..b", "a]"])
    def test_a_path_that_cannot_be_read_is_refused(self, path):
        with pytest.raises(UsageError, match="path"):
            JsonField(path, "want")
