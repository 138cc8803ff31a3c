"""Times of a schedule: five fields as in a crontab, in some time zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

from burnish.domain import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """A checked schedule. All times that come out are in UTC."""

    cron: str
    zone: tzinfo

    @classmethod
    def of(cls, cron: str, timezone: str = "UTC") -> Schedule:
        """UsageError when either cannot be read, or there is never such a time."""
        try:
            # UTC needs no database of time zones, which not every machine has.
            zone = UTC if timezone == "UTC" else ZoneInfo(timezone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise _bad(f"there is no time zone {timezone[:80]!r}", "Europe/Berlin") from None
        if len(cron) > 100 or len(cron.split()) != 5:
            raise _bad("it has not five fields: minute, hour, day, month, weekday")
        schedule = cls(cron=cron, zone=zone)
        if schedule.next_due(datetime(2000, 1, 1, tzinfo=UTC)) is None:
            raise _bad("there is never such a time")
        return schedule

    def last_due(self, now: datetime) -> datetime | None:
        """The latest time that is not after now."""
        return self._step(now, reverse=True)

    def next_due(self, now: datetime) -> datetime | None:
        """The earliest time after now."""
        return self._step(now, reverse=False)

    def _step(self, start: datetime, *, reverse: bool) -> datetime | None:
        # From beyond an hour that comes twice: by the clock, its end lies before its beginning.
        begin = (start + timedelta(hours=2 if reverse else -2)).astimezone(self.zone)
        try:
            times = (one.astimezone(UTC) for one in CronSim(self.cron, begin, reverse=reverse))
            return next((one for one in times if (one <= start) is reverse), None)
        except CronSimError as error:
            raise _bad(str(error)[:1].lower() + str(error)[1:]) from None


def _bad(why: str, example: str = "0 2 * * *") -> UsageError:
    return UsageError(
        what="the schedule cannot be used",
        why=why,
        fix=f"write it like {example!r}",
        code="invalid_schedule",
    )
