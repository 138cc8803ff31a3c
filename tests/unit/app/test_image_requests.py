"""Which image runs are accepted, with which models, and what `[images]` says of both."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from tests.support.image_samples import make_commit, make_request
from tests.support.memory_images import MemoryImageFiles, MemoryImageRepository

from burnish.app.images.models import (
    OPENAI_IMAGE_MODEL,
    ImageModels,
    image_model_options,
    text_model_tables,
)
from burnish.app.images.runs import ImageRuns
from burnish.app.images.settings import ImageSettings
from burnish.config.schema import ImagesTable
from burnish.config.settings import load_settings, model_settings
from burnish.domain import UsageError
from burnish.domain.images.runs import CommitStatus, Constraints
from burnish.images.models.scripted import ScriptedImageJudge, ScriptedImageModel


@pytest.fixture(autouse=True)
def no_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture
def repository():
    return MemoryImageRepository()


def no_text(name):
    raise UsageError(what=f"the model {name!r} cannot be used", why="-", fix="-", code="unknown")


@pytest.fixture
def images(repository):
    models = ImageModels(
        ImageSettings(),
        no_text,
        drawing={"scripted": ScriptedImageModel()},
        judging={"scripted": ScriptedImageJudge()},
    )
    return ImageRuns(
        SimpleNamespace(image_jobs=None, images=repository), MemoryImageFiles(), models
    )


def scripted(**changes):
    return make_request(image_model="scripted", judge_model="scripted", **changes)


async def refusal(images, request):
    with pytest.raises(UsageError) as caught:
        await images.create(request)
    return caught.value


@pytest.mark.parametrize(
    "changes",
    [
        {"base_prompt": "four"},
        {"base_prompt": "   four   "},
        {"base_prompt": "x" * 4_001},
        {"n_variants": 1},
        {"n_variants": 4},
        {"project_id": ""},
        {"project_id": "../etc"},
        {"project_id": "a\n"},
        {"project_id": "x" * 101},
        {"image_model": ""},
        {"image_model": "openai/"},
        {"image_model": "paintbrush"},
        {"judge_model": "sketch"},
        {"text_model": "nobody/knows"},
        {"constraints": Constraints(must_avoid=("x" * 101,))},
        {"constraints": Constraints(must_include=tuple(str(n) for n in range(21)))},
        {"parent_commit_id": "none"},
    ],
)
async def test_what_cannot_be_run_is_refused_and_not_queued(images, repository, changes):
    error = await refusal(images, replace(scripted(), **changes))

    assert error.code == "INVALID_REQUEST"
    assert error.fix
    assert repository.stored_runs == {}


async def test_texts_are_tidied_before_they_are_stored(images):
    limits = Constraints(must_include=(" a  gull ", "", "a gull"), must_avoid=("\t",))

    run = await images.create(scripted(base_prompt="  a lighthouse \n", constraints=limits))

    assert run.request.base_prompt == "a lighthouse"
    assert run.request.constraints == Constraints(must_include=("a gull",))


@pytest.mark.parametrize(
    ("commit", "why"),
    [
        (make_commit("c0", project_id="other"), "belongs to the project 'other'"),
        (make_commit("c0", status=CommitStatus.FAILED, images=()), "it is failed"),
        (make_commit("c0", images=()), "has 0 pictures"),
    ],
)
async def test_a_parent_must_have_succeeded_with_a_picture_in_the_same_project(
    images, repository, commit, why
):
    await repository.add_commit(commit)

    error = await refusal(images, scripted(parent_commit_id="c0"))

    assert error.code == "INVALID_REQUEST"
    assert why in error.why


async def test_a_good_parent_is_taken(images, repository):
    await repository.add_commit(make_commit("c0"))

    assert (await images.create(scripted(parent_commit_id="c0"))).request.parent_commit_id == "c0"


@pytest.mark.parametrize("name", ["gpt-image-1-mini", OPENAI_IMAGE_MODEL])
async def test_without_a_key_openai_is_refused_with_the_fix_and_never_replaced(images, name):
    error = await refusal(images, replace(scripted(), image_model=name))

    assert error.code == "missing_key"
    assert "OPENAI_API_KEY" in error.why
    assert "sketch" in error.fix


async def test_with_a_key_the_bare_name_stands_for_openais(images, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "test")

    run = await images.create(replace(scripted(), image_model="gpt-image-1-mini"))

    assert run.request.image_model == OPENAI_IMAGE_MODEL


async def test_only_allowed_models_can_be_named_where_there_is_a_list(images, repository):
    images.allowed_models = {"scripted"}

    await images.create(scripted())
    error = await refusal(images, replace(scripted(), text_model="local/../secret.gguf"))

    assert error.code == "INVALID_REQUEST"
    assert "allows scripted" in error.why


def test_the_options_say_what_is_missing(monkeypatch):
    def usable(settings):
        return {one.name: one.why_not for one in image_model_options(settings)}

    without = usable(ImageSettings())
    assert without["sketch"] is without["pixel-judge"] is without[None] is None
    assert without[OPENAI_IMAGE_MODEL] == "OPENAI_API_KEY is not set"
    own = ImageSettings(table=ImagesTable(api_key_env="MY_KEY"))
    assert usable(own)[OPENAI_IMAGE_MODEL] == "MY_KEY is not set"
    local = ImageSettings(table=ImagesTable(base_url="http://127.0.0.1:1/v1"))
    assert usable(local)[OPENAI_IMAGE_MODEL] is None
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    assert usable(ImageSettings())[OPENAI_IMAGE_MODEL] is None


async def test_the_table_has_address_and_key_of_all_its_models(monkeypatch):
    """IMG-7: the text model went to OpenAI although another address was configured."""
    monkeypatch.setenv("MY_KEY", "test")
    table = ImagesTable(base_url="http://127.0.0.1:1/v1", api_key_env="MY_KEY")
    models = {"openai/own": {"base_url": "http://elsewhere/v1", "max_attempts": 1}, "local": {}}
    workspace = SimpleNamespace(image_jobs=None, images=None, call_cache=None)
    settings = ImageSettings(table=table, models=models)
    async with ImageRuns.open(workspace, ":memory:", settings) as images:
        opened = images.models.of("gpt-image-1", "gpt-4.1", "openai/gpt-4.1-mini")

    every = [opened.image.settings, opened.judge.settings, opened.text.settings]
    assert {(one.base_url, one.api_key_env) for one in every} == {(table.base_url, "MY_KEY")}
    own = model_settings(text_model_tables(settings), "openai/own")
    assert (own.base_url, own.max_attempts) == (table.base_url, 1)


def test_openai_itself_is_asked_for_texts_in_a_strict_form(monkeypatch):
    """IMG-21."""
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)

    def api(**table):
        tables = text_model_tables(ImageSettings(**table))
        return model_settings(tables, "openai/gpt-4.1-mini").api

    assert api() == "responses"
    assert api(models={"openai": {"api": "chat"}}) == "chat"
    assert api(models={"openai": {"base_url": "http://127.0.0.1:1/v1"}}) == "chat"
    assert api(table=ImagesTable(base_url="http://127.0.0.1:1/v1")) == "chat"
    own = {"openai/gpt-4.1-mini": {"base_url": "http://127.0.0.1:1/v1"}}
    assert api(models=own) == "chat"
    assert api(models={"openai/gpt-4.1-mini": {"max_attempts": 1}}) == "responses"


async def test_a_text_model_may_be_named_bare_and_templates_by_their_name(images, monkeypatch):
    """IMG-19."""
    images.models._text = lambda name: None
    images.allowed_models = {"scripted", "openai/gpt-4.1-mini"}

    bare = await images.create(replace(scripted(), text_model="gpt-4.1-mini"))
    none = await images.create(replace(scripted(), text_model="templates"))

    assert (bare.request.text_model, none.request.text_model) == ("openai/gpt-4.1-mini", None)


def test_a_text_model_is_offered_with_what_it_lacks(monkeypatch):
    def why_not():
        found = image_model_options(ImageSettings())
        return {one.name: one.why_not for one in found if one.kind == "text"}

    assert why_not() == {None: None, "openai/gpt-4.1-mini": "OPENAI_API_KEY is not set"}
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    assert why_not() == {None: None, "openai/gpt-4.1-mini": None}


def test_the_options_name_one_default_of_each_kind():
    table = ImagesTable(image_model="gpt-image-1", text_model="local/x")

    found = image_model_options(ImageSettings(table=table))

    defaults = {one.kind: one.name for one in found if one.default}
    assert defaults == {"image": "openai/gpt-image-1", "judge": "pixel-judge", "text": "local/x"}
    assert sum(one.default for one in found) == 3


def test_settings_come_from_the_file_and_the_environment(tmp_path, monkeypatch):
    config = tmp_path / "burnish.toml"
    assert ImageSettings.load(config).table == ImagesTable()
    config.write_text('[images]\nmax_calls = 3\nfiles = "pictures"\n[models.openai]\nworkers = 1\n')
    monkeypatch.setenv("BURNISH_IMAGES_TEXT_MODEL", "local/x")

    settings = ImageSettings.load(config)

    assert (settings.table.max_calls, settings.table.text_model) == (3, "local/x")
    assert settings.models == {"openai": {"workers": 1}}
    assert settings.files_location("x.db") == str(tmp_path / "pictures")


@pytest.mark.parametrize("text", ["max_calls = 0", "max_call = 1", "files = 3"])
def test_a_mistake_in_the_table_is_explained(tmp_path, text):
    config = tmp_path / "burnish.toml"
    config.write_text(f"[images]\n{text}\n")

    with pytest.raises(UsageError, match="images.max_call|images.files") as caught:
        ImageSettings.load(config)
    assert caught.value.code == "invalid_config"


def test_the_table_stands_beside_an_agent_too(tmp_path):
    config = tmp_path / "burnish.toml"
    config.write_text(
        '[agent]\nmodel = "scripted/echo"\n[suite]\ndataset = "d"\nscorers = []\n'
        "[images]\nmax_calls = 5\n"
    )

    settings = ImageSettings.of(load_settings(config))

    assert (settings.table.max_calls, settings.folder) == (5, tmp_path)


def test_pictures_lie_beside_the_database(tmp_path):
    settings = ImageSettings(folder=tmp_path)
    state = tmp_path / "state"

    assert settings.files_location(str(state / "burnish.db")) == str(state / "images")
    assert settings.files_location(f"sqlite:///{state}/b.db") == str(state / "images")
    below = str(tmp_path / ".burnish" / "images")
    assert settings.files_location("postgresql://u:p@h/n") == below
    bucket = ImageSettings(table=ImagesTable(files="s3://bucket/pictures"))
    assert bucket.files_location("x.db") == "s3://bucket/pictures"
