"""Calls that are waited for, retries and pauses: told while they last, counted afterwards."""

from __future__ import annotations

import io
import time

from rich.console import Console

import burnish
from burnish.cli.display.evaluation import traffic_rows
from burnish.cli.display.evaluation_progress import Pace, _frame, _line
from burnish.domain import ModelRequest
from burnish.evaluation.progress import Progress
from burnish.models.scripted import ErrorRule, ScriptedModel
from burnish.models.traffic import Traffic, counting
from burnish.testing.clocks import FakeClock


async def test_retries_count_for_the_run_that_is_under_way():
    rule = ErrorRule(status=429, attempts=2, retry_after=3.0)
    model = ScriptedModel(["ok"], errors=[rule], clock=FakeClock())
    mine, other = Traffic(), Traffic()

    with counting(mine):
        await model.complete(ModelRequest.text("a"))
    with counting(other):
        pass

    assert mine.to_json()["by_reason"] == {"429 too many requests": 2}
    assert mine.tried_again == "2 calls tried again (2 × 429 too many requests)"
    assert other.to_json()["retries"] == 0


def test_a_call_that_hangs_and_a_pause_are_told_with_their_reason():
    traffic = Traffic()
    with traffic.call("openai/x"):
        now = time.monotonic()
        assert traffic.waiting(now) == [], "calls that are answered as usual need no word"
        assert traffic.waiting(now + 45.2) == ["waiting for 1 call of openai/x since 45 s"]
    traffic.retried("429 too many requests")
    traffic.paused("openai/x", 20.0, "it asked for less (429)")

    words = traffic.waiting(time.monotonic())

    assert words[0].startswith("openai/x pauses for 20 s more: it asked for less (429)")
    assert words[1] == "1 call tried again (1 × 429 too many requests)"
    assert traffic.waiting(time.monotonic() + 60) == []
    assert round(traffic.paused_seconds) == 20


def test_displays_show_what_is_waited_for():
    progress = Progress(planned=10)
    progress.traffic.paused("openai/x", 900.0, "it asked for less (429)")

    text = io.StringIO()
    Console(file=text, width=120).print(_frame(progress, Pace(), ""))

    assert "openai/x pauses" in text.getvalue()
    assert "it asked for less (429)" in _line(progress, Pace(), "")


def test_results_count_what_was_tried_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rule = ErrorRule(status=500, attempts=1)
    model = ScriptedModel(["x"], errors=[rule], clock=FakeClock())
    agent = burnish.Agent(configuration={"sections": {"user": "{{text}}"}}, model=model)
    rows = [{"text": f"t{n}", "label": "x"} for n in range(3)]
    suite = burnish.Suite(dataset=rows, scorers=[{"kind": "exact_match", "field": "label"}])

    document = burnish.evaluate(agent, suite).to_json()

    assert document["traffic"]["by_reason"] == {"status 500": 3}
    assert "3 calls tried again" in str(traffic_rows(document["traffic"])[0][1])
