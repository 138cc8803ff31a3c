import asyncio
import json

import pytest

from burnish.domain import ModelRequest, UnavailableError, UsageError
from burnish.models.replay import RecordingModel, ReplayModel
from burnish.models.scripted import ScriptedModel


@pytest.fixture
def path(tmp_path):
    return tmp_path / "calls.jsonl"


def echo():
    return ScriptedModel(lambda request: f"you said {request.messages[-1].content}", price=(1, 1))


async def test_a_recorded_run_is_replayed_with_its_usage(path):
    recorder = RecordingModel(echo(), path)
    requests = [ModelRequest.text(f"wörd {number}\n\u2028 end") for number in range(20)]
    recorded = await asyncio.gather(*(recorder.complete(request) for request in requests))

    replay = ReplayModel(path)
    replayed = [await replay.complete(request) for request in requests]

    assert replayed == recorded
    assert replayed[0].usage.cost_usd > 0


async def test_a_record_holds_key_request_and_response(path):
    await RecordingModel(echo(), path).complete(ModelRequest.text("hi", temperature=0.5))

    record = json.loads(path.read_text())

    assert set(record) == {"key", "request", "response"}
    assert record["request"]["parameters"] == {"temperature": 0.5}
    assert record["response"]["text"] == "you said hi"


async def test_an_unknown_request_says_to_record_again(path):
    await RecordingModel(echo(), path).complete(ModelRequest.text("hi"))

    with pytest.raises(UsageError) as caught:
        await ReplayModel(path).complete(ModelRequest.text("bye"))

    assert caught.value.code == "not_recorded"
    assert "record again" in caught.value.fix


async def test_the_last_of_equal_recordings_counts(path):
    for text in ("first", "second"):
        await RecordingModel(ScriptedModel([text]), path).complete(ModelRequest.text("hi"))

    assert (await ReplayModel(path).complete(ModelRequest.text("hi"))).text == "second"


async def test_another_recording_has_another_fingerprint(path):
    recorder = RecordingModel(echo(), path)
    await recorder.complete(ModelRequest.text("hi"))
    before = ReplayModel(path).fingerprint

    await recorder.complete(ModelRequest.text("bye"))

    assert ReplayModel(path).fingerprint != before


def test_a_missing_recording_is_told(path):
    with pytest.raises(UsageError, match="No such file"):
        ReplayModel(path)


@pytest.mark.parametrize("line", ["{", "[]", '{"key": "k"}', '{"key": "k", "response": {}}', "7"])
def test_a_broken_line_is_named_by_its_number(path, line):
    good = {"key": "k", "response": {"text": "t"}}
    path.write_text(json.dumps(good) + "\n" + line + "\n")

    with pytest.raises(UsageError, match="line 2"):
        ReplayModel(path)


async def test_a_recording_that_cannot_be_written_is_unavailable(tmp_path):
    recorder = RecordingModel(echo(), tmp_path / "no" / "such" / "folder.jsonl")

    with pytest.raises(UnavailableError, match="cannot be written"):
        await recorder.complete(ModelRequest.text("hi"))
