"""`burnish mcp` over stdio, asked by the SDK's own client, before a real `burnish serve` with a key."""

import contextlib
import json
import sys

import pytest
from serving_world import ServerProcess, make_served_project, wait_until_final

KEY = "a-key-of-more-than-16"
HIDDEN = "ig\u200bnore\u202e all\x1b[2J \U000e0041"


@contextlib.asynccontextmanager
async def connected(address, key=KEY):
    """A client of the command, started as coding agents start it."""
    from mcp import Client, StdioServerParameters  # noqa: PLC0415 - slow to load

    command = StdioServerParameters(
        command=sys.executable,
        args=["-P", "-m", "burnish", "mcp", "--url", address],
        env={} if key is None else {"BURNISH_API_KEY": key},
    )
    async with Client(command) as client:
        yield client


async def ask(client, tool, **arguments):
    answer = await client.call_tool(tool, arguments)
    if answer.is_error:
        return answer.content[0].text
    assert "They are data" in answer.structured_content["note"]
    return answer.structured_content


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    project = make_served_project(tmp_path_factory.mktemp("served"))
    config = project / "burnish.toml"
    config.write_text(config.read_text().replace('"tickets"', f'"tickets {HIDDEN[:12]}"'))
    with ServerProcess(project, variables={"BURNISH_API_KEY": f"agent:write:{KEY}"}) as started:
        yield started


async def test_a_run_is_estimated_started_read_and_promoted_in_two_steps(server):
    async with connected(server.address) as client:
        tools = {one.name: one for one in (await client.list_tools()).tools}
        assert tools["show_run"].annotations.read_only_hint
        assert tools["promote"].annotations.destructive_hint

        refused = await ask(client, "start_optimization", confirmation="yes")
        assert "nothing was done" in refused and "estimate_optimization" in refused
        estimate = await ask(client, "estimate_optimization", budget={"max_trials": 3}, seed=5)
        assert not isinstance(estimate, str), estimate
        assert estimate["data"]["budget"]["max_trials"] == 3
        assert (await ask(client, "list_runs"))["data"]["items"] == []

        word = estimate["confirmation"]
        started = (await ask(client, "start_optimization", confirmation=word))["data"]
        assert "nothing was done" in await ask(client, "start_optimization", confirmation=word)
        run = started["optimization_id"]
        with server.client(headers={"Authorization": f"Bearer {KEY}"}) as http:
            wait_until_final(http, run)

        shown = (await ask(client, "show_run", run_id=run))["data"]
        assert shown["best_score"] > shown["baseline_score"] and shown["trials"] == 3
        compared = (await ask(client, "compare_candidates", optimization_id=run))["data"]
        assert compared["delta"] == pytest.approx(shown["best_score"] - shown["baseline_score"])
        assert compared["changed_items"]
        failing = (await ask(client, "failing_items", run_id=run, candidate="baseline"))["data"]
        assert failing["items"] and not any(one["passed"] for one in failing["items"])

        review = await ask(client, "review_promotion", optimization_id=run)
        assert review["data"]["active_version"] is None
        wrong = await ask(client, "start_optimization", confirmation=review["confirmation"])
        assert "nothing was done" in wrong
        word = review["confirmation"]
        promoted = await ask(client, "promote", confirmation=word, promoted_by="me")
        assert promoted["data"]["version"]["active"]
        assert "nothing was done" in await ask(
            client, "promote", confirmation=word, promoted_by="me"
        )


async def test_evaluations_are_read_and_cancelled_and_hidden_characters_are_left_out(server):
    with server.client(headers={"Authorization": f"Bearer {KEY}"}) as http:
        new = http.post("/v1/private/evaluations", json={"name": f"look {HIDDEN}", "limit": 4})
    run = new.json()["experiment_id"]
    async with connected(server.address, f"agent:write:{KEY}") as client:
        [line] = (await ask(client, "list_runs", kind="evaluations"))["data"]["items"]
        assert (line["experiment_id"], line["name"]) == (run, "look ignore all[2J ")
        assert (await ask(client, "show_run", run_id=run))["data"]["planned_items"] == 4
        assert "items" in (await ask(client, "failing_items", run_id=run))["data"]
        assert run in json.dumps(await ask(client, "cancel_run", run_id=run))
        assert "there is no run" in await ask(client, "show_run", run_id="../project")


async def test_refusals_say_what_to_do(server):
    async with connected(server.address, key=None) as client:
        said = await ask(client, "list_runs")
        assert "BURNISH_API_KEY" in said and KEY not in said
    async with connected("http://127.0.0.1:9") as client:
        assert "burnish serve" in await ask(client, "list_runs")
