"""Contract of model providers over HTTP: what is asked and answered, faults, cancelling, secrets."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from burnish.domain import (
    BurnishError,
    Json,
    Message,
    Model,
    ModelRequest,
    ModelResponse,
    Picture,
    ToolCall,
    ToolDefinition,
    UnavailableError,
    UsageError,
)
from burnish.models.catalog import open_model
from burnish.models.settings import ModelSettings
from burnish.testing.vendors.server import cut, hang, raw
from burnish.testing.vendors.vendor import FakeVendor

# Unlike a key in form, so that only its value can give it away.
CANARY = "Canary-7F3A9c51d2e84b60"
HELLO = ModelRequest.text("hello")
WEATHER = ToolDefinition(
    "weather",
    "The weather of a city",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
CALLS = (ToolCall("call_a", "weather", {"city": "Bern"}), ToolCall("call_b", "weather", {}))
PIXEL = Picture("image/png", base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"pixel").decode("ascii"))
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"score": {"type": "number"}},
    "required": ["score"],
    "additionalProperties": False,
}
LONG = "A long and stable instruction. " * 400


class ModelContract:
    """Every provider passes this. Say its fake vendor's class, a model's name and the key's variable.

    `settings` are the model's besides the address. The flags say what the vendor has.
    """

    vendor_class: ClassVar[Callable[[], FakeVendor]]
    name: ClassVar[str]
    key_env: ClassVar[str]
    settings: ClassVar[dict[str, Any]] = {}
    has_logprobs: ClassVar[bool] = True
    has_streams: ClassVar[bool] = True
    caches_prompts: ClassVar[bool] = True
    has_refusals: ClassVar[bool] = True
    # Whether it runs on this machine, where nobody bills it.
    runs_here: ClassVar[bool] = False

    @pytest.fixture
    async def vendor(self, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FakeVendor]:
        monkeypatch.setenv(self.key_env, CANARY)
        async with type(self).vendor_class() as vendor:
            yield vendor

    @pytest.fixture
    async def open_at(self, vendor: FakeVendor) -> AsyncIterator[Callable[..., Model]]:
        opened: list[Model] = []

        def build(**settings: Any) -> Model:
            chosen = {"max_attempts": 2, **self.settings, **settings}
            opened.append(open_model(self.name, ModelSettings(base_url=vendor.base_url, **chosen)))
            return opened[-1]

        yield build
        for model in opened:
            await model.close()

    async def test_text_comes_back_with_its_tokens_and_price(
        self, vendor: FakeVendor, open_at: Callable[..., Model]
    ) -> None:
        request = ModelRequest(
            messages=(
                Message("system", "Be kind."),
                Message("user", "first"),
                Message("assistant", "second"),
                Message("user", "third"),
            ),
            parameters={"max_tokens": 50},
        )

        response = await open_at(input_price=1.0, output_price=2.0).complete(request)

        sent = json.dumps(vendor.seen[-1].body)
        assert (response.text, response.finish_reason, response.tool_calls) == ("fine", "stop", ())
        assert all(text in sent for text in ("Be kind.", "first", "second", "third"))
        usage = response.usage
        assert usage.calls == 1
        assert usage.input_tokens > 0
        assert usage.cost_usd == pytest.approx(
            (usage.input_tokens + 2 * usage.output_tokens) / 1_000_000
        )
        assert vendor.key(vendor.seen[-1].headers) == CANARY

    async def test_an_unknown_price_is_none(self, open_at: Callable[..., Model]) -> None:
        cost = (await open_at().complete(HELLO)).usage.cost_usd
        assert cost == 0 if self.runs_here else cost is None

    async def test_a_prompt_of_instructions_alone_is_answered(
        self, open_at: Callable[..., Model]
    ) -> None:
        request = ModelRequest(messages=(Message("system", "Say something."),))

        assert (await open_at().complete(request)).text == "fine"

    async def test_a_label_is_answered_as_itself(
        self, vendor: FakeVendor, open_at: Callable[..., Model]
    ) -> None:
        vendor.script = ModelResponse(text="no")
        request = replace(HELLO, labels=("yes", "no"))

        response = await open_at().complete(request)

        assert (response.text, response.tool_calls) == ("no", ())

    @pytest.mark.parametrize("schema", [SCHEMA, {"type": "array", "items": SCHEMA}])
    async def test_an_answer_by_a_schema_is_json(
        self, vendor: FakeVendor, open_at: Callable[..., Model], schema: dict[str, Any]
    ) -> None:
        value = {"score": 0.5} if schema is SCHEMA else [{"score": 0.5}]
        vendor.script = ModelResponse(text=json.dumps(value))

        response = await open_at().complete(replace(HELLO, schema=schema))

        assert json.loads(response.text) == value
        assert (response.finish_reason, response.tool_calls) == ("stop", ())
        assert "score" in json.dumps(vendor.seen[-1].body)

    @pytest.mark.parametrize("stream", [False, True])
    async def test_tools_are_called_and_told_what_came_of_it(
        self, vendor: FakeVendor, open_at: Callable[..., Model], stream: bool
    ) -> None:
        if stream and not self.has_streams:
            pytest.skip("this provider has no streams")
        model, asked = open_at(stream=stream), replace(HELLO, tools=(WEATHER,))
        vendor.script = ModelResponse(text="", tool_calls=CALLS)

        first = await model.complete(asked)
        vendor.script = ModelResponse(text="rain")
        called = Message("assistant", first.text, tool_calls=first.tool_calls)
        told = [Message("tool", f"wet {one.id}", tool_call_id=one.id) for one in first.tool_calls]
        second = await model.complete(replace(asked, messages=(*asked.messages, called, *told)))

        sent = json.dumps(vendor.seen[0].body)
        assert WEATHER.name in sent
        assert WEATHER.description in sent
        assert first.finish_reason == "tool_calls"
        assert [(one.name, one.arguments) for one in first.tool_calls] == [
            (one.name, one.arguments) for one in CALLS
        ]
        assert len({one.id for one in first.tool_calls}) == 2
        assert second.text == "rain"
        assert all(one.content in json.dumps(vendor.seen[-1].body) for one in told)

    @pytest.mark.parametrize("choice", ["required", "weather"])
    async def test_a_tool_may_be_demanded(
        self, vendor: FakeVendor, open_at: Callable[..., Model], choice: str
    ) -> None:
        vendor.script = ModelResponse(text="", tool_calls=CALLS[:1])

        response = await open_at().complete(
            replace(HELLO, tools=(WEATHER, replace(WEATHER, name="time")), tool_choice=choice)
        )

        assert response.tool_calls[0].arguments == {"city": "Bern"}

    async def test_pictures_are_shown(
        self, vendor: FakeVendor, open_at: Callable[..., Model]
    ) -> None:
        request = ModelRequest(messages=(Message("user", "What is it?", pictures=(PIXEL, PIXEL)),))

        response = await open_at().complete(request)

        sent = json.dumps(vendor.seen[-1].body)
        assert response.text == "fine"
        assert sent.count(PIXEL.data) == 2
        assert PIXEL.media_type.partition("/")[2] in sent

    async def test_logprobs_come_where_there_are_any(
        self, vendor: FakeVendor, open_at: Callable[..., Model]
    ) -> None:
        if not self.has_logprobs:
            pytest.skip("this provider has no logprobs")
        token: dict[str, Json] = {"token": "fine", "logprob": -0.25, "top_logprobs": []}
        vendor.script = ModelResponse(text="fine", logprobs=(token,))

        response = await open_at().complete(ModelRequest.text("hello", logprobs=True))

        assert response.logprobs is not None
        assert response.logprobs[0]["token"] == "fine"  # noqa: S105
        assert response.logprobs[0]["logprob"] == -0.25

    async def test_what_the_vendor_has_cached_is_counted(
        self, vendor: FakeVendor, open_at: Callable[..., Model]
    ) -> None:
        if not self.caches_prompts:
            pytest.skip("this provider caches nothing")
        model = open_at()

        first, second = [
            await model.complete(
                ModelRequest(messages=(Message("system", LONG), Message("user", item)))
            )
            for item in ("one", "two")
        ]

        assert first.usage.cached_tokens == 0
        assert second.usage.cached_tokens > 0.8 * second.usage.input_tokens

    async def test_a_streamed_answer_is_the_same_and_has_its_first_moment(
        self, vendor: FakeVendor, open_at: Callable[..., Model]
    ) -> None:
        if not self.has_streams:
            pytest.skip("this provider has no streams")
        whole = await open_at().complete(HELLO)
        streamed = await open_at(stream=True).complete(HELLO)

        assert streamed.ttft_ms is not None
        assert (streamed.text, streamed.usage) == (whole.text, whole.usage)

    async def test_a_stream_that_is_cut_is_no_answer(
        self, vendor: FakeVendor, open_at: Callable[..., Model]
    ) -> None:
        if not self.has_streams:
            pytest.skip("this provider has no streams")
        vendor.plan(vendor.cut_stream)

        with pytest.raises(UnavailableError):
            await open_at(stream=True, max_attempts=1).complete(HELLO)

    async def test_a_refusal_is_an_outcome(
        self, vendor: FakeVendor, open_at: Callable[..., Model]
    ) -> None:
        vendor.script = ModelResponse(text="I will not", finish_reason="refusal")
        model = open_at()

        refused = await model.complete(HELLO)
        vendor.plan(vendor.filtering())
        filtered = await model.complete(HELLO)

        # Where there is no word for it, a refusal is a text like any other.
        finish = "refusal" if self.has_refusals else "stop"
        assert (refused.finish_reason, refused.text) == (finish, "I will not")
        assert filtered.finish_reason == "content_filter"
        assert vendor.requests == 2

    @pytest.mark.parametrize("status", [429, 500, 503, 529])
    async def test_what_passes_is_tried_again_as_the_vendor_asks(
        self, vendor: FakeVendor, open_at: Callable[..., Model], status: int
    ) -> None:
        vendor.plan(vendor.failing(status, retry_after="0"))

        assert (await open_at().complete(HELLO)).text == "fine"
        assert vendor.requests == 2

    @pytest.mark.parametrize(
        ("status", "code"),
        [(400, "request_refused"), (401, "bad_key"), (403, "bad_key"), (404, "unknown_model")],
    )
    async def test_what_does_not_pass_is_said_once(
        self, vendor: FakeVendor, open_at: Callable[..., Model], status: int, code: str
    ) -> None:
        vendor.plan(vendor.failing(status, "because of the moon"))

        with pytest.raises(UsageError) as caught:
            await open_at().complete(HELLO)

        assert caught.value.code == code
        assert vendor.requests == 1

    @pytest.mark.parametrize("move", [raw(b"{"), raw(b"{}"), raw(b"<html>", "text/html"), cut()])
    async def test_what_is_no_answer_is_an_outage(
        self, vendor: FakeVendor, open_at: Callable[..., Model], move: Any
    ) -> None:
        vendor.plan(move)

        with pytest.raises(UnavailableError):
            await open_at(max_attempts=1).complete(HELLO)

    async def test_a_vendor_that_says_nothing_is_given_up(
        self, vendor: FakeVendor, open_at: Callable[..., Model]
    ) -> None:
        vendor.plan(hang())

        with pytest.raises(UnavailableError) as caught:
            await open_at(max_attempts=1, timeout_seconds=0.05).complete(HELLO)

        assert caught.value.code == "timeout"

    async def test_a_cancelled_call_leaves_nothing_behind(
        self, vendor: FakeVendor, open_at: Callable[..., Model]
    ) -> None:
        model = open_at(max_concurrency=1)
        vendor.plan(hang())
        task = asyncio.create_task(model.complete(HELLO))
        while not vendor.requests:  # noqa: ASYNC110 - a request on its way tells nobody
            await asyncio.sleep(0)

        task.cancel()

        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await model.complete(HELLO)).text == "fine"

    async def test_a_changed_key_is_read_again(
        self,
        vendor: FakeVendor,
        open_at: Callable[..., Model],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        model = open_at()
        vendor.keys = {"the-next-key"}

        with pytest.raises(UsageError) as caught:
            await model.complete(HELLO)
        monkeypatch.setenv(self.key_env, "the-next-key")
        response = await model.complete(HELLO)

        assert caught.value.code == "bad_key"
        assert response.text == "fine"

    async def test_the_key_shows_nowhere(
        self,
        vendor: FakeVendor,
        open_at: Callable[..., Model],
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        caplog.set_level(logging.DEBUG)
        model = open_at(max_attempts=1)
        shown = [repr(model), model.name, model.fingerprint]
        for status in (400, 401, 403, 404, 429, 500):
            vendor.plan(vendor.failing(status, f"your key {CANARY} is odd"))
            with pytest.raises(BurnishError) as caught:
                await model.complete(HELLO)
            told = caught.value
            shown += [str(told), repr(told), json.dumps(told.to_json()), repr(told.__dict__)]
            shown += [repr(told.__cause__), repr(told.__context__)]

        assert vendor.requests == 6
        assert CANARY not in "\n".join([*shown, caplog.text])

    async def test_a_parameter_that_the_model_refuses_is_left_out_from_then_on(
        self,
        vendor: FakeVendor,
        open_at: Callable[..., Model],
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        vendor.refused = {"temperature": ""}
        request = ModelRequest.text("hello", temperature=0.5)

        texts = [(await open_at().complete(request)).text for _ in range(3)]

        assert texts == ["fine"] * 3
        assert ["temperature" in vendor.parameters(one) for one in vendor.seen] == [
            True,
            False,
            False,
            False,
        ]
        told = [one for one in caplog.messages if "temperature" in one]
        assert len(told) == 1
        assert self.name in told[0]
