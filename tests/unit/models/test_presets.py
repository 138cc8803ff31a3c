"""Presets: each service's address, key, names and prices, and the bodies that it takes."""

import json

import pytest

from burnish.domain import Message, ModelRequest, Usage, UsageError
from burnish.models.catalog import open_model
from burnish.models.endpoint.answers import Answer
from burnish.models.endpoint.parameters import accepted, learn_refusal
from burnish.models.failures import ErrorAnswer
from burnish.models.openai.presets import PRESETS
from burnish.models.pricing import price_by_name
from burnish.models.settings import ModelSettings

ASKED = ModelRequest(
    messages=(Message("system", "Judge."), Message("user", "Hi")),
    parameters={"seed": 7, "max_completion_tokens": 9},
    schema={"type": "object", "properties": {"a": {"type": "string"}}},
)
CALL = Usage(calls=1, input_tokens=1000, output_tokens=1000)


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    for preset in PRESETS.values():
        monkeypatch.delenv(preset.address_env or preset.key_env, raising=False)
        monkeypatch.setenv(preset.key_env, "a-key")
    monkeypatch.delenv("OPENAI_API_VERSION", raising=False)
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://mine.openai.azure.com/")


def opened(name, **settings):
    return open_model(name, ModelSettings(**settings))


def body(name, request=ASKED, **settings):
    return opened(name, **settings)._wire.body(request)


@pytest.mark.parametrize("provider", PRESETS)
def test_every_preset_is_a_provider_with_a_name_an_address_and_words(provider):
    model = opened(f"{provider}/some-model")

    assert model.name == f"{provider}/some-model"
    assert model._access.base_url.startswith(("https://", "http://127.0.0.1:"))
    assert model._wire.body(ModelRequest.text("Hi"))["messages"]
    assert PRESETS[provider].differs
    assert PRESETS[provider].service


@pytest.mark.parametrize("provider", PRESETS)
def test_only_services_elsewhere_need_a_key(provider, monkeypatch):
    monkeypatch.delenv(PRESETS[provider].key_env)

    if PRESETS[provider].local:
        assert opened(f"{provider}/m").name
    else:
        with pytest.raises(UsageError, match=PRESETS[provider].key_env) as refused:
            opened(f"{provider}/m")
        assert refused.value.code == "missing_key"


def test_an_unknown_provider_is_told_all_of_them():
    with pytest.raises(UsageError) as refused:
        opened("grok/llama")

    assert "did you mean groq/llama?" in refused.value.fix
    assert all(f"{provider}/" in refused.value.fix for provider in PRESETS)


def test_azure_speaks_the_current_api_under_the_resource_s_address():
    model = opened("azure/my-deployment")

    assert model._access.base_url == "https://mine.openai.azure.com/openai/v1"
    assert model._wire.path == "chat/completions"
    assert model._wire.body(ASKED)["model"] == "my-deployment"
    assert model._access.vendor.headers("k") == {"api-key": "k"}


def test_azure_speaks_a_dated_api_where_the_environment_names_one(monkeypatch):
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
    model = opened("azure/my deployment")

    assert model._access.base_url == (
        "https://mine.openai.azure.com/openai/deployments/my%20deployment"
    )
    assert model._wire.path == "chat/completions?api-version=2024-10-21"


def test_azure_takes_an_address_with_its_path_and_one_of_the_settings(monkeypatch):
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://mine.openai.azure.com/openai/v1/")
    assert opened("azure/d")._access.base_url == "https://mine.openai.azure.com/openai/v1"

    own = opened("azure/d", base_url="https://gateway.example.org/openai/v1")
    assert own._access.base_url == "https://gateway.example.org/openai/v1"


@pytest.mark.parametrize("given", ["", "mine.openai.azure.com", "https://u:p@mine.example.org"])
def test_azure_without_a_usable_address_says_what_to_set(given, monkeypatch):
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", given)

    with pytest.raises(UsageError, match="AZURE_OPENAI_ENDPOINT|base_url"):
        opened("azure/d")


def test_mistral_has_its_own_names():
    sent = body("mistral/mistral-small-latest", stream=True)

    assert sent["random_seed"] == 7
    assert sent["max_tokens"] == 9
    assert not {"seed", "max_completion_tokens", "stream_options"} & set(sent)
    assert sent["stream"] is True


def test_deepseek_is_told_the_schema_in_words():
    sent = body("deepseek/deepseek-chat")

    assert sent["response_format"] == {"type": "json_object"}
    assert sent["messages"][0]["content"].startswith("Judge.\n\nAnswer with JSON")
    assert '"properties"' in sent["messages"][0]["content"]
    without = body("deepseek/deepseek-chat", ModelRequest.text("Hi"))
    assert "response_format" not in without


def test_fireworks_puts_its_prefix_before_short_names():
    assert body("fireworks/gpt-oss-120b")["model"] == "accounts/fireworks/models/gpt-oss-120b"
    assert body("fireworks/accounts/me/models/x")["model"] == "accounts/me/models/x"
    assert price_by_name("fireworks/gpt-oss-120b", CALL, ModelSettings()) > 0


def test_llamacpp_holds_labels_by_a_grammar_and_others_do_not():
    asked = ModelRequest(messages=(Message("user", "?"),), labels=("yes", "no"))

    assert "grammar" in body("llamacpp/any", asked)
    assert "grammar" not in body("vllm/any", asked)


def test_names_of_routers_keep_their_slashes():
    assert body("openrouter/openai/gpt-4o-mini")["model"] == "openai/gpt-4o-mini"


@pytest.mark.parametrize(
    "name",
    [
        "groq/llama-3.3-70b-versatile",
        "azure/gpt-4o",
        "xai/grok-4",
        "openrouter/openai/gpt-4o-mini",
        "together/meta-llama/Llama-3.3-70B-Instruct-Turbo",
        "ollama/llama3.2",
        "groq/nobody-knows",
        "ollama/gpt-oss:120b-cloud",
    ],
)
def test_a_call_costs_what_the_estimate_says(name):
    paid = opened(name)._access.priced(Answer(None, CALL)).cost_usd

    assert paid == price_by_name(name, CALL, ModelSettings())


def test_the_responses_api_is_spoken_where_it_is_asked_for():
    model = opened("groq/openai/gpt-oss-20b", api="responses")

    assert model._wire.path == "responses"


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"error": {"message": "no", "code": "c"}}, "no"),
        ({"error": "'response_format.type' must be 'json_schema'"}, "must be"),
        ({"message": {"detail": [{"loc": ["body", "seed"], "msg": "not permitted"}]}}, "seed"),
        ({"detail": [{"loc": ["body", "seed"]}]}, "seed"),
        ({"object": "error", "message": "flat"}, "flat"),
        ([1], ""),
    ],
)
def test_errors_in_every_form_are_read(told, words):
    said = opened("mistral/m")._access.vendor.read_error(json.dumps(told).encode())

    assert words in said["message"]


def test_what_mistral_refuses_is_left_out():
    vendor = opened("mistral/m")._access.vendor
    problem = {"type": "extra_forbidden", "loc": ["body", "logit_bias"]}
    told = {"message": {"detail": [{**problem, "msg": "Extra inputs are not permitted"}]}}
    said = vendor.read_error(json.dumps(told).encode())
    answer = ErrorAnswer(status=422, message=said["message"])
    given = {"logit_bias": {}, "max_tokens": 5}

    assert learn_refusal("https://an.address", "mistral/m", answer, given)
    assert accepted("https://an.address", "mistral/m", given) == {"max_tokens": 5}
