"""Batch runs that are killed: wherever it happens, nothing is paid twice and nothing is lost."""

import asyncio
from datetime import UTC, datetime

import pytest
from batch_runs import VENDORS, SkippingClock, World, agent, serving
from kills import die_at_write, killed

import burnish
from burnish.app.evaluate.evaluations import Evaluation, keep_batches
from burnish.cli.invocation import run_command
from burnish.domain import BatchRecord, ModelRequest
from burnish.models import ModelSettings, open_model
from burnish.models.batches import model as batched
from burnish.testing.vendors.batches import OpenAIBatchServer
from burnish.testing.vendors.batches.server import RefusedError
from burnish.testing.vendors.server import in_thread

ITEMS = 30


@pytest.fixture(autouse=True)
def skipped_waits(monkeypatch):
    for vendor in VENDORS:
        monkeypatch.setenv(f"{vendor.upper()}_API_KEY", "a-key")
    monkeypatch.setattr(batched, "SystemClock", SkippingClock)


PLACES = [
    "record:after",
    "note_sending:after",
    "note_sent:before",
    "note_sent:after",
    "note_ended:after",
    "release:before",
]


CASES = [
    *[("openai", place) for place in PLACES],
    ("anthropic", "note_sent:before"),
    ("gemini", "note_sent:before"),
]


@pytest.mark.parametrize(("vendor", "place"), CASES)
def test_a_batch_run_that_is_killed_pays_for_nothing_twice(tmp_path, vendor, place):
    with serving(vendor) as server:
        world = World(tmp_path, server, vendor)
        experiment_id = asyncio.run(world.evaluate())

        def work():
            die_at_write(place, 1)
            asyncio.run(world.evaluate(experiment_id))

        killed(work)
        result = asyncio.run(world.evaluate(experiment_id))

    assert len(server.paid) == ITEMS
    assert set(server.paid.values()) == {1}
    assert not server.called
    assert result.score == 0.5
    assert result.summary.runs == ITEMS
    # Each "say wN" is two tokens, each answer two: half of (2 * 1 + 2 * 2) / 1e6 dollars.
    assert result.summary.spending.total.cost_usd == pytest.approx(ITEMS * 3e-6)


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_run_has_the_same_result_with_and_without_batches_whatever_happens(tmp_path, vendor):
    faults = {
        "expired": lambda batch, place: batch == 0 and place % 5 == 0,
        "dropped": lambda batch, place: batch == 1 and place == 0,
        "repeated": lambda _, place: place % 3 == 0,
        "errored": lambda batch, place: 500 if batch == 0 and place == 3 else None,
        "cut": frozenset({1}),
        "refused": {2: 503},
    }
    found = {}
    for batch in (True, False):
        folder = tmp_path / str(batch)
        folder.mkdir()
        with serving(vendor, **faults) as server:
            world = World(folder, server, vendor)
            experiment_id = asyncio.run(world.evaluate(batch=batch))
            found[batch] = asyncio.run(world.evaluate(experiment_id, batch=batch)), server

    (batched_result, batches), (single, _) = found[True], found[False]
    assert set(batches.paid.values()) == {1}
    assert len(batches.paid) == ITEMS
    assert batched_result.score == single.score
    assert batched_result.summary.passed == single.summary.passed
    whole = single.summary.spending.total
    half = batched_result.summary.spending.total
    assert half.cost_usd == pytest.approx(whole.cost_usd / 2)
    assert (half.calls, half.input_tokens) == (whole.calls, whole.input_tokens)


async def goes_on(world, experiment_id):
    """As `burnish resume` does, whatever burnish.toml says of batches by now."""
    async with world.open(batch=False) as workspace:
        await keep_batches(workspace, experiment_id)
        return await Evaluation(workspace, agent("openai"), world.suite).resume(experiment_id)


def test_a_run_that_waits_for_a_batch_is_not_continued_in_single_calls(tmp_path):
    with serving(looks=4) as server:
        world = World(tmp_path, server)
        experiment_id = asyncio.run(world.evaluate())

        def work():
            die_at_write("note_look:after", 1)
            asyncio.run(world.evaluate(experiment_id))

        killed(work)
        with pytest.raises(burnish.ConflictError) as raised:
            asyncio.run(world.evaluate(experiment_id, batch=False))
        result = asyncio.run(goes_on(world, experiment_id))

    assert raised.value.code == "batch_under_way"
    assert not server.called
    assert (set(server.paid.values()), result.summary.runs) == ({1}, ITEMS)


@pytest.mark.parametrize("vendor", VENDORS)
async def test_a_batch_is_sent_by_a_key_that_came_meanwhile(monkeypatch, vendor):
    with serving(vendor) as server:
        model = open_model(f"{vendor}/small", ModelSettings(base_url=server.base_url))
        endpoint = model.open_batches()
        record = BatchRecord(
            id="b", model=model.name, fingerprint="f", requests=1, created_at=datetime.now(UTC)
        )
        server.keys = {"the-next-key"}
        monkeypatch.setenv(f"{vendor.upper()}_API_KEY", "the-next-key")

        body = endpoint.body(ModelRequest.text("hello"))
        sent = await endpoint.submit(record, await endpoint.prepare(record, {"b-0": body}))

        assert sent.rpartition("/")[2] in server.batches
        await endpoint.close()
        await model.close()


def test_a_server_without_batches_is_told_from_a_wrong_model(tmp_path):
    class Bare(OpenAIBatchServer):
        def route(self, method, path, body):
            raise RefusedError(404, "not found")

    with in_thread(Bare()) as server:
        world = World(tmp_path, server)
        experiment_id = asyncio.run(world.evaluate())
        with pytest.raises(burnish.UsageError) as raised:
            asyncio.run(world.evaluate(experiment_id))

    assert raised.value.code == "no_batches"


def test_show_tells_what_is_waited_for_and_how_far_it_is(tmp_path, capfd):
    with serving(looks=4) as server:
        world = World(tmp_path, server)
        experiment_id = asyncio.run(world.evaluate())

        def work():
            die_at_write("note_look:after", 2)
            asyncio.run(world.evaluate(experiment_id))

        killed(work)
        told = asyncio.run(world.waiting(experiment_id))
        code = run_command(["--db", world.db, "show", experiment_id])

    assert code == 0
    shown = capfd.readouterr().out
    # A slow machine gathers fewer of them at once.
    assert told
    for batch in told:
        assert f"a batch of {batch['requests']} request" in shown
    looked = [one for one in told if one["looked_at"] is not None]
    assert looked
    for batch in looked:
        assert f"as {batch['batch_id']}: 0 of {batch['requests']} answered" in shown
        assert batch["looked_at"] > batch["since"]
    assert shown.count("waits for") == len(told)
