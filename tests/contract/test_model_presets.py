"""Presets of OpenAI-compatible services keep to the contract of providers, each with its own quirks."""

import pytest

from burnish.models.openai.presets import PRESETS
from burnish.testing.model_contract import ModelContract
from burnish.testing.vendors.openai import FakeOpenAI


class FakeAzure(FakeOpenAI):
    """The key is in a header of its own."""

    def key(self, headers):
        return headers.get("api-key", "")


class FakeLlamaServer(FakeOpenAI):
    """Takes a grammar."""

    beyond_types = ("grammar",)


FAKES = {"azure": FakeAzure, "llamacpp": FakeLlamaServer}


class PresetContract(ModelContract):
    @pytest.fixture(autouse=True)
    def plain_environment(self, monkeypatch):
        for preset in PRESETS.values():
            for name in filter(None, (preset.address_env, preset.key_env)):
                monkeypatch.delenv(name, raising=False)


# OpenAI itself has its two APIs in test_models.py.
for provider, preset in PRESETS.items():
    if provider != "openai":
        facts = {
            "vendor_class": FAKES.get(provider, FakeOpenAI),
            "name": f"{provider}/some-model",
            "key_env": preset.key_env,
            "runs_here": preset.local,
        }
        made = type(f"Test{provider.capitalize()}", (PresetContract,), facts)
        globals()[made.__name__] = made
