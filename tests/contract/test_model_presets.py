"""Presets of OpenAI-compatible services keep to the contract of providers, each with its own quirks."""

from dataclasses import replace

import pytest

from burnish.domain import ModelResponse
from burnish.models.openai.presets import PRESETS
from burnish.testing.model_contract import HELLO, SCHEMA, ModelContract
from burnish.testing.vendors.openai import FakeOpenAI


class Quirky(FakeOpenAI):
    """Answers 404, which nothing mends, to what a service `lacks`, and refuses other names by name."""

    lacks = ()
    refuses = ()

    def __init__(self):
        super().__init__(refused=dict.fromkeys(self.refuses, ""))

    def kind(self, request):
        return None if {*self.lacks} & {*request.body} else super().kind(request)


class FakeAzure(Quirky):
    """The key is in a header of its own."""

    def key(self, headers):
        return headers.get("api-key", "")


class FakeLlamaServer(Quirky):
    """Takes a grammar."""

    beyond_types = ("grammar",)


class FakeMistral(Quirky):
    """Has a name of its own for the seed."""

    lacks = ("seed", "max_completion_tokens", "stream_options")
    beyond_types = ("random_seed",)


class Legacy(Quirky):
    """Knows the length by its older name only."""

    lacks = ("max_completion_tokens",)


class FakeDeepSeek(Legacy):
    """Takes no schema."""

    def kind(self, request):
        form = request.body.get("response_format", {"type": "json_object"})
        return super().kind(request) if form == {"type": "json_object"} else None


class FakeFireworks(Legacy):
    """Models have whole names."""

    def kind(self, request):
        whole = request.body["model"] == "accounts/fireworks/models/some-model"
        return super().kind(request) if whole else None


class FakeGroq(Quirky):
    """Has no logprobs."""

    refuses = ("logprobs", "top_logprobs", "logit_bias")


class FakeXai(Quirky):
    """A reasoning model."""

    refuses = ("presence_penalty", "frequency_penalty", "stop")


FAKES = {
    "azure": FakeAzure,
    "llamacpp": FakeLlamaServer,
    "mistral": FakeMistral,
    "deepseek": FakeDeepSeek,
    "fireworks": FakeFireworks,
    "groq": FakeGroq,
    "xai": FakeXai,
    **dict.fromkeys(("together", "ollama", "lmstudio"), Legacy),
}
EVERYTHING = {
    "seed": 7,
    "max_completion_tokens": 9,
    "stop": ["x"],
    "logit_bias": {},
    "logprobs": True,
    "top_logprobs": 2,
    "presence_penalty": 0.1,
    "frequency_penalty": 0.1,
    "temperature": 0,
}


class PresetContract(ModelContract):
    @pytest.fixture(autouse=True)
    def plain_environment(self, monkeypatch):
        for preset in PRESETS.values():
            for name in filter(None, (preset.address_env, preset.key_env)):
                monkeypatch.delenv(name, raising=False)

    async def test_what_the_service_does_otherwise_is_minded(self, vendor, open_at):
        vendor.script = ModelResponse(text='{"score": 1}')
        request = replace(HELLO, parameters=EVERYTHING, schema=SCHEMA)

        texts = [(await open_at(stream=stream).complete(request)).text for stream in (False, True)]

        assert texts == ['{"score": 1}'] * 2
        refused = len(vendor.refused)
        assert vendor.requests == 2 + refused
        sent = vendor.seen[-1].body
        assert not {*vendor.lacks, *vendor.refused} & {*sent}
        assert 9 in (sent.get("max_tokens"), sent.get("max_completion_tokens"))


# OpenAI itself has its two APIs in test_models.py.
for provider, preset in PRESETS.items():
    if provider != "openai":
        facts = {
            "vendor_class": FAKES.get(provider, Quirky),
            "name": f"{provider}/some-model",
            "key_env": preset.key_env,
            "runs_here": preset.local,
            "has_logprobs": provider != "groq",
        }
        made = type(f"Test{provider.capitalize()}", (PresetContract,), facts)
        globals()[made.__name__] = made
