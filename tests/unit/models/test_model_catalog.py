import subprocess
import sys

import pytest

from burnish.domain import Message, ModelRequest, UsageError
from burnish.models import CachedModel, ModelSettings, OpenAIModel, as_model, open_model
from burnish.models.replay import RecordingModel
from burnish.models.scripted import ScriptedModel


class MemoryCache:
    async def get(self, key):
        return None

    async def put(self, key, value):
        pass


async def ask(model, text, **fields):
    request = ModelRequest(messages=(Message("user", text),), **fields)
    return (await model.complete(request)).text


async def test_scripted_models_are_opened_by_name():
    assert await ask(open_model("scripted/echo"), "hello") == "hello"
    assert await ask(open_model("scripted/constant:a:b/c"), "hello") == "a:b/c"
    assert await ask(open_model("scripted/first-label"), "hello", labels=("x", "y")) == "x"


async def test_a_recording_is_opened_by_its_path(tmp_path):
    path = tmp_path / "calls.jsonl"
    await RecordingModel(ScriptedModel(["yes"]), path).complete(ModelRequest.text("hi"))

    assert await ask(open_model(f"replay/{path}"), "hi") == "yes"


def test_an_openai_model_keeps_slashes_in_its_name():
    settings = ModelSettings(base_url="http://127.0.0.1:1/v1")

    model = open_model("openai/meta/llama-3", settings)

    assert isinstance(model, OpenAIModel)
    assert model.name == "openai/meta/llama-3"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("opena/gpt-4o", "did you mean openai/gpt-4o?"),
        ("gpt-4o", "openai/NAME"),
        ("openai/", "openai/NAME"),
        ("mystery/x", "replay/FILE"),
        # NEW-42: whoever has a server that we don't know is told how to point at it.
        ("mystery/x", 'with its base_url in [models."openai/x"]'),
        ("scripted/nope", "scripted/echo"),
    ],
)
def test_an_unknown_name_is_refused_with_what_would_work(name, hint):
    with pytest.raises(UsageError) as caught:
        open_model(name)

    assert hint in caught.value.fix
    assert caught.value.code == "unknown_model"


def test_a_cache_is_used_unless_the_settings_turn_it_off():
    cache = MemoryCache()

    assert isinstance(open_model("scripted/echo", cache=cache), CachedModel)
    off = open_model("scripted/echo", ModelSettings(cache=False), cache=cache)
    assert isinstance(off, ScriptedModel)
    assert isinstance(open_model("scripted/echo"), ScriptedModel)


async def test_a_function_a_model_and_a_name_all_become_models():
    model = ScriptedModel(["fixed"])

    assert await ask(as_model("scripted/echo"), "abc") == "abc"
    assert await ask(as_model(lambda prompt: prompt.upper()), "abc") == "ABC"
    assert as_model(model) is model


def test_a_model_is_wrapped_in_a_cache_once():
    cache = MemoryCache()

    wrapped = as_model(ScriptedModel(["x"]), cache=cache)

    assert isinstance(wrapped, CachedModel)
    assert as_model(wrapped, cache=cache) is wrapped


def test_what_is_no_model_is_refused():
    with pytest.raises(UsageError, match="int"):
        as_model(7)


def test_importing_models_loads_nothing_heavy():
    heavy = (
        "httpx2",
        "genai_prices",
        "splintr",
        "xllamacpp",
        "pydantic",
        "numpy",
    )
    script = f"import sys, burnish.models; print([m for m in {heavy!r} if m in sys.modules])"

    loaded = subprocess.check_output([sys.executable, "-c", script], text=True)

    assert loaded.strip() == "[]"
