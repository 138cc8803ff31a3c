import subprocess
import sys

import pytest

from burnish.domain import AgentOutput, Item, UsageError
from burnish.evaluation.scorers.catalog import build_scorer, build_scorers, stratify_field
from burnish.evaluation.scorers.function_scorer import FunctionScorer
from burnish.evaluation.scorers.json_scorers import JsonField, JsonSchema
from burnish.evaluation.scorers.judge import LLMJudge
from burnish.evaluation.scorers.numeric import NumericTolerance
from burnish.evaluation.scorers.patterns import Contains, Regex
from burnish.evaluation.scorers.scorer_set import Weighted
from burnish.evaluation.scorers.text import ExactMatch, Similarity


@pytest.fixture(autouse=True)
def same_path_afterwards(monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))


class Quiet:
    name = "quiet"
    fingerprint = "quiet"

    async def complete(self, request):
        raise AssertionError("no call was expected")

    async def close(self):
        pass


def own_scorer(output, item):
    return 1


def build(spec, folder):
    return build_scorer(spec, open_model=lambda name: Quiet(), folder=folder)


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ("exact_match", ExactMatch),
        ({"kind": "exact_match", "field": "label", "weight": 2, "ignore_case": True}, ExactMatch),
        ({"kind": "contains", "text": ["a", "b"], "match": "any"}, Contains),
        ({"kind": "regex", "pattern": "a+", "flags": "i"}, Regex),
        ({"kind": "numeric", "field": "n", "absolute": 1, "relative": 0.1}, NumericTolerance),
        ({"kind": "similarity", "field": "s", "threshold": 0.9}, Similarity),
        ({"kind": "json_schema", "schema": {"type": "object"}}, JsonSchema),
        ({"kind": "json_field", "path": "a.b", "field": "n"}, JsonField),
        (
            {"kind": "judge", "model": "openai/x", "criteria": "Be kind.", "threshold": 0.7},
            LLMJudge,
        ),
        ({"kind": "llm_judge", "model": "openai/x", "criteria": ["Be kind."]}, LLMJudge),
        ({"kind": "python", "function": own_scorer, "blocking": True}, FunctionScorer),
        ({"kind": "weighted", "scorers": ["exact_match", own_scorer]}, Weighted),
        (own_scorer, FunctionScorer),
    ],
)
def test_every_kind_is_built(spec, kind, tmp_path):
    assert isinstance(build(spec, tmp_path), kind)


def test_a_scorer_passes_through_and_a_name_is_taken(tmp_path):
    scorer = ExactMatch("a")

    assert build(scorer, tmp_path) is scorer
    assert build({"kind": "exact_match", "name": "route"}, tmp_path).name == "route"


async def test_module_and_function_come_from_the_folder(tmp_path):
    (tmp_path / "my_scores.py").write_text(
        "def strict(output, item):\n    return output == item['label']\n"
        "class Own:\n"
        "    name = 'own'\n    fingerprint = None\n"
        "    async def score(self, output, item): ...\n"
        "own = Own()\n"
    )
    output, item = AgentOutput(text="yes"), Item(id="1", data={"label": "yes"})

    for spec in ("my_scores:strict", {"kind": "python", "function": "my_scores:strict"}):
        scorer = build(spec, tmp_path)
        assert (scorer.name, (await scorer.score(output, item)).value) == ("strict", 1.0)
        assert scorer.fingerprint
    assert build("my_scores:own", tmp_path).name == "own"


def test_files_are_found_in_the_folder(tmp_path):
    (tmp_path / "answer.json").write_text('{"type": "object"}')
    (tmp_path / "criteria.md").write_text("Be kind.\n")

    schema = build({"kind": "json_schema", "schema": "answer.json"}, tmp_path)
    judge = build({"kind": "judge", "model": "m", "criteria": {"file": "criteria.md"}}, tmp_path)

    assert schema.schema == {"type": "object"}
    assert judge.criteria == "Be kind."
    with pytest.raises(UsageError, match=r"none\.md cannot be read"):
        build({"kind": "judge", "model": "m", "criteria": {"file": "none.md"}}, tmp_path)


def test_a_judges_model_is_opened_only_when_the_rest_is_right(tmp_path):
    opened = []

    def open_model(name):
        opened.append(name)
        return Quiet()

    with pytest.raises(UsageError):
        build_scorer(
            {"kind": "judge", "model": "openai/x", "criterion": "c"},
            open_model=open_model,
            folder=tmp_path,
        )
    assert opened == []


def test_an_unknown_kind_names_the_nearest(tmp_path):
    with pytest.raises(UsageError, match="did you mean 'exact_match'") as error:
        build({"kind": "exactmatch"}, tmp_path)
    assert error.value.code == "unknown_scorer"
    with pytest.raises(UsageError) as error:
        build("nonsense", tmp_path)
    assert error.value.code == "unknown_scorer"
    with pytest.raises(UsageError, match="no kind"):
        build({"field": "label"}, tmp_path)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"kind": "exact_match", "feild": "x"}, "did you mean 'field'"),
        ({"kind": "exact_match", "ignore_case": "yes"}, "neither true nor false"),
        ({"kind": "exact_match", "field": 3}, "not text"),
        ({"kind": "exact_match", "weight": "2"}, "weight"),
        ({"kind": "exact_match", "weight": -1}, "weight"),
        ({"kind": "numeric", "absolute": "1"}, "finite number"),
        ({"kind": "contains", "text": 3}, "list of texts"),
        ({"kind": "regex", "pattern": "a("}, "position 1"),
        ({"kind": "regex"}, "pattern"),
        ("json_schema", "'schema'"),
        ({"kind": "json_schema", "schema": "none.json"}, "cannot be read"),
        ({"kind": "judge", "criteria": "c"}, "'model'"),
        ({"kind": "judge", "model": "m", "criteria": "c", "fields": "a"}, "list of names"),
        ({"kind": "weighted", "scorers": "exact_match"}, "not a list"),
        ({"kind": "python", "function": 3}, "cannot be called"),
        ("nowhere:score", "no module 'nowhere'"),
        (3, "cannot be used as a scorer"),
        (ExactMatch, "cannot be used as a scorer"),
    ],
)
def test_a_wrong_spec_is_one_clear_error(spec, message, tmp_path):
    with pytest.raises(UsageError, match=message) as error:
        build(spec, tmp_path)
    assert error.value.fix


def test_a_set_takes_the_weights_of_its_specs(tmp_path):
    specs = [{"kind": "exact_match", "weight": 3}, own_scorer]

    built = build_scorers(specs, open_model=lambda name: Quiet(), folder=tmp_path)

    assert built.weights == (3.0, 1.0)
    assert built.names == ("exact_match", "own_scorer")


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ("exact_match", "expected"),
        ({"kind": "exact_match", "field": "label"}, "label"),
        ({"kind": "json_field", "path": "a", "field": "label"}, "label"),
        ({"kind": "regex", "pattern": "a", "field": "label"}, "label"),
        ({"kind": "regex", "field": "pattern"}, None),
        ({"kind": "contains", "text": "a"}, None),
        ({"kind": "numeric", "field": "n"}, None),
        ({"kind": "judge"}, None),
        ("my_module:score", None),
        (own_scorer, None),
        (ExactMatch("label"), "label"),
        (Regex("a", field="label"), "label"),
        (Contains(text="a"), None),
    ],
)
def test_the_label_field_to_stratify_by(spec, field):
    assert stratify_field(spec) == field


def test_heavy_libraries_are_loaded_only_by_those_who_need_them():
    heavy = "{'rapidfuzz', 'jsonschema', 'json_repair', 'openai', 'sqlalchemy', 'numpy'}"
    code = f"import sys, burnish.evaluation.scorers; sys.exit(str({heavy} & set(sys.modules)))"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.stderr.strip() == "set()"
