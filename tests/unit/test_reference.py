"""The reference of the docs is as the code has it, and leaves nothing out."""

import re
import tomllib
from pathlib import Path

import pytest
from tests.house import House
from tests.reference import commands, config, environment, llms, optimizers, python_api, scorers
from tests.reference.codes import by_code
from tests.reference.markdown import DOCS
from tests.reference.pages import PAGES, page, undescribed

from burnish.config.schema import Settings
from burnish.config.search import SearchSpec
from burnish.domain import Budget
from burnish.evaluation.refine.policy import RefinePolicy
from burnish.evaluation.scorers.assert_checks import known_types
from burnish.models.settings import ModelSettings

ROOT = DOCS.parent
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)")
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def text_of(name):
    return (DOCS / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_as_the_code_has_it(name):
    assert text_of(name) == page(name), "run `make reference`, and commit what it writes"


def test_everything_in_the_reference_is_described():
    assert undescribed() == [], "describe it in its docstring, or in tests/reference/*.toml"


def test_every_public_name_is_in_the_reference():
    written = set(re.findall(r"^### (\w+)$", text_of("reference/python.md"), re.MULTILINE))

    for module in python_api.MODULES:
        assert {name for name, _ in python_api.public(module)} <= written


def test_every_command_and_option_is_in_the_reference():
    sections = text_of("reference/commands.md").split("\n## ")
    by_title = {one.partition("\n")[0]: one for one in sections}

    for path, command in commands.every_command():
        for parameter in commands.shown(command):
            for name in commands.names(parameter):
                assert f"`{name}`" in by_title[f"burnish {path}"]


def test_every_key_of_the_config_is_in_the_reference():
    # By the schema itself, not by what the page is made from.
    kinds = {name: one.annotation for name, one in Settings.model_fields.items()}
    models = {name: kind for name, kind in kinds.items() if hasattr(kind, "model_fields")}
    page = text_of("reference/burnish-toml.md")

    for table, kind in models.items():
        part = page.partition(f"<!-- made: {table} -->")[2].partition("<!-- end -->")[0]
        missing = {one for one in kind.model_fields if f"| `{one}` |" not in part}
        assert {f"{table}.{one}" for one in missing} <= config.NO_KEYS
    for setting in ModelSettings.__dataclass_fields__:
        assert f"| `{setting}` |" in text_of("reference/models.md")


def test_examples_of_keys_can_be_used():
    examples = config.examples()
    tables = {name: one for name, one in examples.items() if name != "models"}

    settings = Settings.model_validate(tables)

    assert settings.budget_spec() != Budget()
    assert SearchSpec.of(settings.optimizer).name == "gepa"
    assert RefinePolicy.of(settings.suite.refine.model_dump()).limit == 2
    for one in examples["models"].values():
        assert ModelSettings.of(one).input_price == 0.15


def test_tables_in_the_docs_can_be_read():
    blocks = [
        block
        for page in [ROOT / "README.md", *DOCS.rglob("*.md")]
        for block in re.findall(
            r"^```toml\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
        )
    ]
    whole = [one for one in map(tomllib.loads, blocks) if {"agent", "suite"} <= set(one)]

    assert len(whole) >= 1
    for one in whole:
        assert Settings.model_validate(one).agent.name


def test_every_error_code_of_the_source_is_in_the_reference():
    # By the text of the source, not by the syntax trees that the page is made from.
    pattern = re.compile(r"\bcode=\"(\w+)\"|\"code\": \"(\w+)\"|default_code = \"(\w+)\"")
    modules = [one for one in House().modules.values() if ".testing" not in one.name]
    found = {code for one in modules for pair in pattern.findall(one.text) for code in pair if code}
    page = text_of("reference/codes.md")

    assert found <= set(by_code())
    assert [code for code in by_code() if f"| `{code}` |" not in page] == []


def test_every_environment_variable_of_the_source_is_in_the_reference():
    page = text_of("reference/environment.md")
    named = {
        name
        for module in House().modules.values()
        for name in re.findall(r"\"(BURNISH_[A-Z_]*[A-Z])\"", module.text)
    }

    assert named <= environment.variables()
    assert [one for one in environment.variables() if f"| `{one}` |" not in page] == []


def test_every_kind_of_scorer_and_its_settings_are_in_the_reference():
    sections = text_of("reference/scorers.md").split("\n## ")
    by_title = {one.partition("\n")[0]: one for one in sections}

    for kind in scorers.every_kind():
        for setting in scorers.settings_of(kind):
            assert f"`{setting}`" in by_title[kind]


@pytest.mark.parametrize(
    "place",
    ["src/burnish/cli/templates/reviews/burnish.toml", "docs/optimize.md", "docs/optimizers.md"],
)
def test_whoever_names_optimizers_names_all(place):
    text = (ROOT / place).read_text(encoding="utf-8")

    assert [one for one in optimizers.built_in() if not re.search(rf"\b{one}\b", text)] == []


def test_the_help_of_optimize_names_all_optimizers_and_the_meta_model():
    (option,) = (one for one in commands.load_command("optimize").params if one.name == "optimizer")

    assert [one for one in optimizers.built_in() if one not in option.help] == []
    assert "--set optimizer.model=" in option.help


def test_every_type_of_assert_is_in_the_docs():
    told = (DOCS / "imports.md").read_text(encoding="utf-8")

    assert [one for one in known_types() if f"`{one}`" not in told] == []


def test_every_page_is_in_the_navigation():
    pages = {str(one.relative_to(DOCS)) for one in DOCS.rglob("*.md")}

    assert {one for one in pages if not one.startswith("decisions/")} <= set(llms.pages())


def test_links_within_the_repository_lead_somewhere():
    pages = [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), DOCS / "llms.txt"]

    assert [one for page in pages for one in broken_links(page)] == []


def broken_links(page: Path):
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    for target, anchor in LINK.findall(text):
        place = (page.parent / target).resolve() if target else page
        if not place.exists():
            yield f"{page.relative_to(ROOT)}: {target}"
        elif anchor and place.suffix == ".md" and anchor not in anchors(place):
            yield f"{page.relative_to(ROOT)}: {target}#{anchor}"


def anchors(page: Path):
    heads = re.findall(r"^#+ (.*)$", FENCED.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", one.lower()).strip().replace(" ", "-") for one in heads}
