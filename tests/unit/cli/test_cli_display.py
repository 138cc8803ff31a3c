"""What people see while a run goes on and in a line of words."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from burnish.cli.display.evaluation_progress import Pace, _frame, _line
from burnish.cli.wording import age, duration, money, one_line
from burnish.domain import AgentOutput, ErrorKind, ItemError, ItemResult
from burnish.evaluation.progress import Progress


class FakeClock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def progress_of(done, errors=0):
    progress = Progress(planned=20)
    for number in range(done):
        failed = number < errors
        progress.add(
            ItemResult(
                item_id=str(number),
                item_hash="h",
                repeat=0,
                score=0.0 if failed else 1.0,
                passed=not failed,
                output=None if failed else AgentOutput(text="x"),
                error=ItemError(kind=ErrorKind.AGENT, message="bo\x1b[2Jom") if failed else None,
            )
        )
    return progress


def test_the_pace_forgets_a_burst_of_cached_items():
    clock = FakeClock()
    pace = Pace(clock)
    pace.note(1000)
    for _ in range(40):
        clock.now += 1
        pace.note(1000)

    clock.now += 1
    pace.note(1001)

    assert pace.rate < 1
    assert pace.seconds_left(10) > 100


def test_nothing_done_has_no_time_left():
    assert Pace(FakeClock()).seconds_left(10) is None


def test_a_plain_line_has_the_numbers():
    clock = FakeClock()
    pace = Pace(clock)
    clock.now += 5

    line = _line(progress_of(10, errors=2), pace, "")

    assert line.startswith("10/20  score 0.800 (0.49–0.94)  2 errors  2.0/s  5.0 s left")


@pytest.mark.parametrize("done", [0, 10])
def test_the_live_frame_holds_the_last_error_harmlessly(done):
    out = io.StringIO()
    Console(file=out, width=100).print(_frame(progress_of(done, errors=1), Pace(FakeClock()), "t"))

    assert f"{done}/20" in out.getvalue()
    assert "\x1b[2J" not in out.getvalue()


def test_a_run_that_is_being_prepared_says_so():
    out = io.StringIO()
    Console(file=out).print(_frame(Progress(), Pace(FakeClock()), ""))

    assert "preparing" in out.getvalue()


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.24, "0.2 s"), (42, "42 s"), (61, "1 min 01 s"), (3_700, "1 h 01 min")],
)
def test_durations_are_as_coarse_as_people_say_them(seconds, words):
    assert duration(seconds) == words


def test_an_unknown_price_is_not_a_price_of_nothing():
    assert money(None) == "unknown"
    assert money(0.0) == "$0.00"
    assert money(0.0123) == "$0.0123"


def test_ages_come_from_iso_moments():
    now = datetime(2026, 1, 31, 12, tzinfo=UTC)

    assert age((now - timedelta(hours=5)).isoformat(), now=now) == "5 h ago"
    assert age("2026-01-31T11:59:59Z", now=now) == "just now"
    assert age("never", now=now) == ""


def test_long_text_is_cut_on_one_line():
    assert one_line("a\n b\tc" * 50, 10) == "a b ca b…"
