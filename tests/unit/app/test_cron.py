"""Schedules: five fields, in some time zone."""

from datetime import UTC, datetime

import pytest

from burnish.app.agents.optimizers.cron import Schedule
from burnish.domain import UsageError


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("cron", "now", "last", "following"),
    [
        ("0 2 * * *", "2026-01-31T01:59:59", "2026-01-30T02:00:00", "2026-01-31T02:00:00"),
        ("0 2 * * *", "2026-01-31T02:00:00", "2026-01-31T02:00:00", "2026-02-01T02:00:00"),
        ("*/15 * * * *", "2026-01-31T10:07:30", "2026-01-31T10:00:00", "2026-01-31T10:15:00"),
        ("0 0 29 2 *", "2026-01-01T00:00:00", "2024-02-29T00:00:00", "2028-02-29T00:00:00"),
        ("30 8 * * MON-FRI", "2026-02-01T12:00:00", "2026-01-30T08:30:00", "2026-02-02T08:30:00"),
    ],
)
def test_the_last_and_the_next_time(cron, now, last, following):
    schedule = Schedule.of(cron)

    assert schedule.last_due(at(now)) == at(last)
    assert schedule.next_due(at(now)) == at(following)


def test_a_time_zone_counts_over_the_change_of_the_clock():
    schedule = Schedule.of("0 4 * * *", "Europe/Berlin")

    assert schedule.last_due(at("2026-03-28T12:00:00")) == at("2026-03-28T03:00:00")
    assert schedule.last_due(at("2026-03-29T12:00:00")) == at("2026-03-29T02:00:00")


@pytest.mark.parametrize(
    ("cron", "last", "following"),
    [
        ("30 2 * * *", "2026-10-25T00:30:00", "2026-10-26T01:30:00"),
        ("*/20 * * * *", "2026-10-25T01:20:00", "2026-10-25T01:40:00"),
    ],
)
def test_in_an_hour_that_comes_again_the_last_is_before_and_the_next_after(cron, last, following):
    schedule, now = Schedule.of(cron, "Europe/Berlin"), at("2026-10-25T01:29:00")

    assert schedule.last_due(now) == at(last)
    assert schedule.next_due(now) == at(following)


@pytest.mark.parametrize(
    "cron",
    [
        "",
        "x",
        "* * * *",
        "* * * * * *",
        "60 * * * *",
        "0 0 31 2 *",
        "@daily",
        "*/0 * * * *",
        "9" * 200,
    ],
)
def test_what_is_no_schedule_is_refused(cron):
    with pytest.raises(UsageError) as caught:
        Schedule.of(cron)

    assert caught.value.code == "invalid_schedule"


@pytest.mark.parametrize(
    "zone", ["", "Nowhere/Else", "../../etc/passwd", "/etc/localtime", "a\x00b"]
)
def test_what_is_no_time_zone_is_refused(zone):
    with pytest.raises(UsageError) as caught:
        Schedule.of("0 2 * * *", zone)

    assert caught.value.code == "invalid_schedule"
