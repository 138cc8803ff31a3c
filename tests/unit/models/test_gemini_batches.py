"""Gemini batches: bodies as the SDK makes them, and states of a batch by what Google tells of it."""

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from google.genai import _common, batches, types

from burnish.domain import BatchRecord, Message, ModelRequest, UsageError
from burnish.models.batches.endpoint import BatchLook
from burnish.models.catalog import open_model
from burnish.models.failures import TransientError
from burnish.models.settings import ModelSettings

RECORD = BatchRecord(
    id="b", model="gemini/small", fingerprint="f", requests=2, created_at=datetime.now(UTC)
)
STATS = {"requestCount": "2", "successfulRequestCount": "1"}


class Told:
    """What the vendor is asked, and what it tells."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), []

    async def __call__(self, method, path, **content):
        self.asked.append((method, path, content))
        return self.answers.pop(0)

    async def once(self, send):
        return await send(SimpleNamespace(post=lambda path, json: self("POST", path, json=json)))


@pytest.fixture
def endpoint(monkeypatch):
    monkeypatch.setenv("GEMINI_API_KEY", "a-key")
    model = open_model("gemini/gemini-2.5-flash", ModelSettings())

    def telling(*answers):
        found, told = model.open_batches(), Told(*answers)
        found._document = found.told = told
        found._access.once = told.once
        return found

    return telling


def operation(state, *lines, name="batches/1", error=None, **metadata):
    told = {"name": name, "metadata": {"state": f"BATCH_STATE_{state}", **metadata}}
    if lines:
        told["response"] = {"inlinedResponses": {"inlinedResponses": list(lines)}}
    return {**told, **({"error": error} if error else {})}


async def read(endpoint, document):
    look = BatchLook(ended=True, document=document)
    return [answer async for answer in endpoint().answers(look)]


async def test_a_batch_is_sent_as_the_sdk_sends_it(endpoint):
    config = types.GenerateContentConfig(
        system_instruction="Be brief.",
        temperature=0,
        max_output_tokens=5,
        response_mime_type="application/json",
        response_json_schema={"type": "object"},
    )
    one = types.InlinedRequest(contents="hi", metadata={"key": "b-0"}, config=config)
    given = types._CreateBatchJobParameters(
        model="gemini-2.5-flash",
        src=[one],
        config=types.CreateBatchJobConfig(display_name="b"),
    )
    theirs = batches._CreateBatchJobParameters_to_mldev(SimpleNamespace(vertexai=False), given)
    theirs = _common.encode_unserializable_types(_common.convert_to_dict(theirs))
    # The SDK names a role that Google leaves out of its own examples.
    inlined = theirs["batch"]["inputConfig"]["requests"]["requests"][0]
    del inlined["request"]["systemInstruction"]["role"]
    ours, request = (
        endpoint(operation("PENDING")),
        ModelRequest(
            messages=(Message("system", "Be brief."), Message("user", "hi")),
            parameters={"temperature": 0, "max_tokens": 5},
            schema={"type": "object"},
        ),
    )

    sent = await ours.submit(RECORD, await ours.prepare(RECORD, {"b-0": ours.body(request)}))

    [(_, path, content)] = ours.told.asked
    assert sent == "batches/1"
    assert path == f"{theirs['_url']['model']}:batchGenerateContent"
    assert content["json"] == {"batch": theirs["batch"]}


@pytest.mark.parametrize(
    ("told", "ended", "failure"),
    [
        (operation("PENDING", batchStats=STATS), False, TransientError),
        # A state that nobody knew of is no end: what it holds is not sent again.
        (operation("SOMETHING_NEW"), False, TransientError),
        ({**operation("SUCCEEDED"), "done": True}, True, TransientError),
        (operation("EXPIRED"), True, TransientError),
        (operation("FAILED", error={"code": 8, "message": "later"}), True, TransientError),
        (operation("FAILED", error={"code": 3, "message": "never"}), True, UsageError),
    ],
)
async def test_a_batch_has_ended_where_google_says_so(endpoint, told, ended, failure):
    look = await endpoint(told).look("batches/1")

    assert look.ended is ended
    assert isinstance(look.failure, failure)
    assert look.answered == int("batchStats" in told["metadata"])


async def test_a_batch_is_found_by_its_display_name_on_any_page(endpoint):
    found = endpoint(
        {"operations": [operation("RUNNING", displayName="other")], "nextPageToken": "2"},
        {"operations": [operation("RUNNING", displayName="b", name="batches/2")]},
    )

    assert await found.find(RECORD) == "batches/2"
    assert found.told.asked[1][2]["params"]["pageToken"] == "2"
    assert await endpoint({}).find(RECORD) is None


async def test_answers_are_told_apart_by_name_or_else_by_order(endpoint):
    body, error = {"candidates": []}, {"code": 8, "message": "quota"}
    named = operation(
        "SUCCEEDED",
        {"metadata": {"key": "b-1"}, "response": body},
        {"metadata": {"key": "b-0"}, "error": error},
    )
    unnamed = operation("SUCCEEDED", {"error": error}, {"response": body}, batchStats=STATS)
    unnamed["metadata"]["displayName"] = "b"
    lacking = operation("SUCCEEDED", {"response": body}, batchStats=STATS)

    first, second = await read(endpoint, named)
    by_order = await read(endpoint, unnamed)
    [nobody] = await read(endpoint, lacking)

    assert (first.custom_id, first.body) == ("b-1", body)
    assert (second.custom_id, second.error.status) == ("b-0", 429)
    assert [one.custom_id for one in by_order] == ["b-0", "b-1"]
    assert nobody.custom_id == ""
