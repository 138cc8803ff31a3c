"""Providers of models keep to one contract, against fakes that check requests by the vendors' SDKs."""

import pytest

from burnish.testing.model_contract import ModelContract
from burnish.testing.vendors.anthropic import FakeAnthropic
from burnish.testing.vendors.openai import FakeOpenAI


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "OPENAI_ORG_ID"):
        monkeypatch.delenv(name, raising=False)


class TestOpenAIChat(ModelContract):
    vendor_class = FakeOpenAI
    name = "openai/gpt-4o-mini"
    key_env = "OPENAI_API_KEY"


class TestOpenAIResponses(ModelContract):
    vendor_class = FakeOpenAI
    name = "openai/gpt-4o-mini"
    key_env = "OPENAI_API_KEY"
    settings = {"api": "responses"}  # noqa: RUF012
    has_logprobs = False


class TestAnthropic(ModelContract):
    vendor_class = FakeAnthropic
    name = "anthropic/claude-haiku-4-5"
    key_env = "ANTHROPIC_API_KEY"
    has_logprobs = False
