"""The HTTP agent against a real server that misbehaves on order."""

import json

import pytest
from tests.servers.misbehaving import MisbehavingServer, cut, endless, hang, raw, status

from burnish.domain import (
    Configuration,
    ExperimentContext,
    Item,
    UnavailableError,
    UsageError,
    experiment_scope,
)
from burnish.evaluation.agents import HttpAgent

CONFIGURATION = Configuration.of({"sections": {"system": "S"}})
ITEM = Item(id="7", data={"question": "why?"})


def answer(value):
    return raw(json.dumps(value).encode())


def agent_at(server, **more):
    return HttpAgent(name="h", configuration=CONFIGURATION, url=f"{server.base_url}/run", **more)


async def ask(*moves, **more):
    async with MisbehavingServer(moves, otherwise=answer({"output": "late"})) as server:
        agent = agent_at(server, **more)
        try:
            return await agent.run(CONFIGURATION, ITEM, repeat=3), server
        finally:
            await agent.close()


async def test_configuration_item_and_repeat_are_posted_and_the_output_read():
    output, server = await ask(
        answer({"output": "because", "trace": ["t"], "usage": {"calls": 2, "cost_usd": 0.1}})
    )

    assert server.seen[0].body == {
        "configuration": CONFIGURATION.to_json(),
        "item": {"question": "why?", "id": "7"},
        "repeat": 3,
    }
    assert output.text == "because"
    assert output.trace == ["t"]
    assert output.spending.total.calls == 2


async def test_usage_without_a_price_has_an_unknown_cost():
    output, _ = await ask(answer({"output": "because", "usage": {"calls": 2}}))

    assert output.spending.total.cost_usd is None


async def test_the_experiment_is_posted_with_its_tag_and_flags():
    context = ExperimentContext(
        id="e1", overrides_tag="canary", parent_tag="stable", flags={"beta": True}
    )

    with experiment_scope(context):
        _, server = await ask(answer({"output": "because"}))

    assert ExperimentContext.of(server.seen[0].body["experiment"]) == context


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        (b"plain", "text/plain", "plain"),
        (b'"quoted"', "application/json", "quoted"),
        (b'{"answer": 1}', "application/json", '{"answer": 1}'),
        (b'{"text": "t"}', "application/json", "t"),
    ],
)
async def test_other_forms_of_answers_are_understood(body, content_type, text):
    output, _ = await ask(raw(body, content_type))

    assert output.text == text


@pytest.mark.parametrize(
    "move", [status(503), status(429, retry_after="0"), cut(), raw(b"{broken")]
)
async def test_a_passing_failure_is_tried_again(move):
    output, server = await ask(move)

    assert output.text == "late"
    assert server.requests == 2


async def test_a_refused_request_is_not_tried_again():
    async with MisbehavingServer(otherwise=status(400, "bad input")) as server:
        url = f"{server.base_url}/run?key=canary"
        agent = HttpAgent(name="h", configuration=CONFIGURATION, url=url)
        with pytest.raises(UsageError, match="status 400") as caught:
            await agent.run(CONFIGURATION, ITEM, repeat=0)
        await agent.close()

    assert server.requests == 1
    assert caught.value.code == "request_refused"
    assert "canary" not in str(caught.value)


async def test_an_answer_without_end_is_cut_off():
    taken = []
    async with MisbehavingServer(otherwise=endless(taken)) as server:
        agent = agent_at(server)
        with pytest.raises(UsageError, match="larger than 8 MB"):
            await agent.run(CONFIGURATION, ITEM, repeat=0)
        await agent.close()

    assert sum(taken) < 20 * 1024 * 1024


async def test_a_service_that_hangs_is_given_up_within_its_deadline():
    async with MisbehavingServer(otherwise=hang()) as server:
        agent = agent_at(server, timeout_seconds=0.3)
        with pytest.raises(UnavailableError, match="no answer within 0.3 s"):
            await agent.run(CONFIGURATION, ITEM, repeat=0)
        await agent.close()


def test_only_a_version_makes_results_cacheable():
    def fingerprint(version):
        return HttpAgent(
            name="h", configuration=CONFIGURATION, url="http://127.0.0.1:1/x", version=version
        ).fingerprint

    assert fingerprint(None) is None
    assert fingerprint("1") != fingerprint("2")
    with pytest.raises(UsageError, match="not an http"):
        HttpAgent(name="h", configuration=CONFIGURATION, url="file:///etc/passwd")
