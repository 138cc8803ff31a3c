"""Models against their vendors' own SDKs: wall time of the same calls, to the same fake vendor."""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

import anthropic
import openai
from botocore.config import Config
from botocore.session import Session
from google import genai

from bench.results import Section
from burnish.domain import Message, ModelRequest, ModelResponse
from burnish.models import ModelSettings, open_model
from burnish.testing.vendors.anthropic import FakeAnthropic
from burnish.testing.vendors.bedrock import FakeBedrock
from burnish.testing.vendors.gemini import FakeGemini
from burnish.testing.vendors.openai import FakeOpenAI
from burnish.testing.vendors.vendor import FakeVendor

CALLS, AT_ONCE, LATENCY_SECONDS, ROUNDS = 1000, 50, 0.05, 7
# What Burnish may take for it, in times of the SDK in a bare loop.
MOST = 1.15
_MODEL = "some-model"
_THREADED = "bedrock"
_AWS = {
    "AWS_REGION": "us-east-1",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "no-key",
    "AWS_SECRET_ACCESS_KEY": "no-secret",
}
_TEXT = "Classify the ticket: the invoice is wrong. " * 20
Call = Callable[[int], Awaitable[object]]
_FAKES: dict[str, type[FakeVendor]] = {
    "openai": FakeOpenAI,
    "anthropic": FakeAnthropic,
    "gemini": FakeGemini,
    "bedrock": FakeBedrock,
}


def run() -> Section:
    """Both in turns, in this process; the vendor answers from another."""
    before = os.getloadavg()[0]
    rows = [asyncio.run(_measured(vendor)) for vendor in _FAKES]
    section = Section(
        name="vendors",
        title="Models against the vendors' own SDKs",
        command="python -m bench vendors",
        columns=["vendor", "Burnish, s", "SDK in a bare loop, s", "ratio", "at most"],
        rows=rows,
        notes=[
            f"{CALLS:,} calls, {AT_ONCE} at once, to a fake vendor in another process that answers "
            f"after {LATENCY_SECONDS * 1000:.0f} ms; medians of {ROUNDS} rounds in turns, and the "
            "median of their ratios.",
            "Burnish's calls go through limiter, retries, deadline and prices; the SDK's are made by a "
            "bare loop with a semaphore and no retries.",
            "AWS's SDK is synchronous and runs in threads; its client takes less of a processor than "
            "any asynchronous one, so its row has no bound.",
            f"Load average before and after: {before:.1f} and {os.getloadavg()[0]:.1f}.",
        ],
    )
    if any(row[3] > MOST for row in rows if row[0] != _THREADED):
        raise SystemExit(f"slower than allowed: {rows}")
    return section


def _serve(vendor: str, pipe: Connection) -> None:
    async def serve() -> None:
        answer = ModelResponse(text="billing")
        async with _FAKES[vendor](answer, latency_seconds=LATENCY_SECONDS) as server:
            pipe.send(server.base_url)
            await asyncio.to_thread(pipe.recv)

    asyncio.run(serve())


async def _measured(vendor: str) -> list[object]:
    ours, theirs = get_context("spawn").Pipe()
    server = get_context("spawn").Process(target=_serve, args=(vendor, theirs))
    server.start()
    try:
        address = await asyncio.to_thread(ours.recv)
        async with AsyncExitStack() as opened:
            calls = _burnish(vendor, address, opened), _sdk(vendor, address, opened)
            times = [await _round(calls, number) for number in range(ROUNDS + 1)]
    finally:
        ours.send(None)
        server.join()
    # The first opened connections and loaded what is loaded late.
    medians = [round(statistics.median(one), 2) for one in zip(*times[1:], strict=True)]
    ratio = statistics.median(one / other for one, other in times[1:])
    return [vendor, *medians, round(ratio, 2), "–" if vendor == _THREADED else MOST]


async def _round(calls: tuple[Call, Call], number: int) -> tuple[float, ...]:
    order = calls if number % 2 else calls[::-1]
    taken = {call: await _seconds(call) for call in order}
    return tuple(taken[call] for call in calls)


async def _seconds(call: Call) -> float:
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> None:
        async with turns:
            await call(number)

    began = time.perf_counter()
    await asyncio.gather(*(one(number) for number in range(CALLS)))
    return time.perf_counter() - began


def _burnish(vendor: str, address: str, opened: AsyncExitStack) -> Call:
    os.environ |= {f"{vendor.upper()}_API_KEY": "no-key", **_AWS}
    settings = ModelSettings(base_url=address, max_concurrency=AT_ONCE)
    model = open_model(f"{vendor}/{_MODEL}", settings)
    opened.push_async_callback(model.close)

    async def call(number: int) -> object:
        message = Message("user", f"{_TEXT} {number}")
        return await model.complete(
            ModelRequest(messages=(message,), parameters={"max_tokens": 20})
        )

    return call


def _sdk(vendor: str, address: str, opened: AsyncExitStack) -> Call:
    client: Any
    if vendor == "gemini":
        return _google(address, opened)
    if vendor == _THREADED:
        return _aws(address, opened)
    if vendor == "openai":
        client = openai.AsyncOpenAI(api_key="no-key", base_url=address, max_retries=0)
        create = client.chat.completions.create
    else:
        client = anthropic.AsyncAnthropic(api_key="no-key", base_url=address, max_retries=0)
        create = client.messages.create
    opened.push_async_callback(client.close)

    async def call(number: int) -> object:
        messages = [{"role": "user", "content": f"{_TEXT} {number}"}]
        return await create(model=_MODEL, max_tokens=20, messages=messages)

    return call


def _google(address: str, opened: AsyncExitStack) -> Call:
    options = genai.types.HttpOptions(
        base_url=address.removesuffix("/v1beta"), api_version="v1beta"
    )
    client = genai.Client(api_key="no-key", http_options=options).aio
    opened.push_async_callback(client.aclose)
    config = genai.types.GenerateContentConfig(max_output_tokens=20)

    async def call(number: int) -> object:
        text = f"{_TEXT} {number}"
        return await client.models.generate_content(model=_MODEL, contents=text, config=config)

    return call


def _aws(address: str, opened: AsyncExitStack) -> Call:
    """AWS has no asynchronous SDK: each call is in a thread."""
    threads = opened.enter_context(ThreadPoolExecutor(AT_ONCE))
    config = Config(max_pool_connections=AT_ONCE, retries={"total_max_attempts": 1})
    client = Session().create_client("bedrock-runtime", endpoint_url=address, config=config)

    def ask(number: int) -> object:
        message = {"role": "user", "content": [{"text": f"{_TEXT} {number}"}]}
        return client.converse(
            modelId=_MODEL, messages=[message], inferenceConfig={"maxTokens": 20}
        )

    async def call(number: int) -> object:
        return await asyncio.get_running_loop().run_in_executor(threads, ask, number)

    return call
