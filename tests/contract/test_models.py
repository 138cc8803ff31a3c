"""Providers of models keep to one contract, against fakes that check requests by the vendors' SDKs."""

import asyncio
from dataclasses import replace

import pytest

from burnish.domain import ModelResponse
from burnish.testing.model_contract import HELLO, SCHEMA, ModelContract
from burnish.testing.vendors.anthropic import FakeAnthropic
from burnish.testing.vendors.bedrock import FakeBedrock
from burnish.testing.vendors.gemini import FakeGemini
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


THINKS = "Thinking may not be enabled when tool_choice forces tool use."


class TestAnthropic(ModelContract):
    vendor_class = FakeAnthropic
    name = "anthropic/claude-haiku-4-5"
    key_env = "ANTHROPIC_API_KEY"
    has_logprobs = False

    async def test_a_model_that_always_thinks_is_asked_without_forced_tools(self, vendor, open_at):
        vendor.plan(vendor.failing(400, THINKS))
        vendor.script = ModelResponse(text='{"score": 1}')
        model, request = open_at(), replace(HELLO, schema=SCHEMA)

        texts = [(await model.complete(request)).text for _ in range(2)]

        assert texts == ['{"score": 1}'] * 2
        assert ["tool_choice" in one.body for one in vendor.seen] == [True, False, False]
        assert vendor.seen[-1].body["output_config"]["format"]["schema"] == SCHEMA

    async def test_calls_at_the_same_time_learn_of_it_alike(self, vendor, open_at):
        vendor.plan(*[vendor.failing(400, THINKS)] * 3)
        vendor.script = ModelResponse(text='{"score": 1}')
        model, request = open_at(), replace(HELLO, schema=SCHEMA)

        answers = await asyncio.gather(*(model.complete(request) for _ in range(3)))

        assert [one.text for one in answers] == ['{"score": 1}'] * 3
        assert vendor.requests == 6


class TestGemini(ModelContract):
    vendor_class = FakeGemini
    name = "gemini/gemini-2.5-flash"
    key_env = "GEMINI_API_KEY"
    has_refusals = False


class TestBedrock(ModelContract):
    vendor_class = FakeBedrock
    name = "bedrock/anthropic.claude-haiku-4-5-20251001-v1:0"
    key_env = "AWS_BEARER_TOKEN_BEDROCK"
    has_logprobs = False
    has_streams = False
    has_refusals = False

    @pytest.fixture(autouse=True)
    def region(self, monkeypatch):
        monkeypatch.setenv("AWS_REGION", "eu-central-1")
        monkeypatch.delenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", raising=False)

    async def test_an_answer_that_claude_s_filter_kept_back_is_an_outcome(self, vendor, open_at):
        said = "The model returned the following errors: Output blocked by content filtering policy"
        vendor.plan(vendor.failing(400, said))

        response = await open_at().complete(HELLO)

        assert (response.finish_reason, response.text) == ("content_filter", "")
