"""Transcript scorers: how many steps and turns a run took, and whether its goal was reached."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from burnish.domain import AgentOutput, Item, Json, Score
from burnish.domain.experiments.transcripts import Transcript, is_turn
from burnish.domain.wording import counted
from burnish.evaluation.scorers.fields import (
    MissingFieldError,
    bad_setting,
    error_score,
    fingerprint_of,
    read_filled,
    require_text,
)
from burnish.support.number_checks import is_whole

NO_TRANSCRIPT = (
    "the agent leaves no transcript, so its steps cannot be judged; agents with tools and "
    'conversations leave one, others return AgentOutput(text=…, trace={"transcript": [messages]})'
)
GOAL = "goal"


class TranscriptScorer(ABC):
    """A scorer that reads the transcript; `field` is the item's field that it compares with."""

    instant: ClassVar[bool] = True
    fingerprint: str | None

    def __init__(self, kind: str, name: str, field: str | None = None) -> None:
        self.name = require_text(kind, "name", name)
        self.field = None if field is None else require_text(kind, "field", field)
        self.fields_needed: tuple[str, ...] = () if field is None else (field,)

    async def score(self, output: AgentOutput, item: Item) -> Score:
        """The verdict on one run; a run without a transcript is an error."""
        transcript = Transcript.of(output.trace)
        if transcript is None:
            return error_score(self.name, NO_TRANSCRIPT)
        try:
            given = None if self.field is None else read_filled(item, self.field)
            return self._judge(transcript, given)
        except MissingFieldError as error:
            return error_score(self.name, str(error))

    @abstractmethod
    def _judge(self, transcript: Transcript, given: Json) -> Score: ...

    def _right(self, reason: str = "") -> Score:
        return Score(1.0, reason, name=self.name)

    def _wrong(self, value: float, reason: str, step: int | None) -> Score:
        """A verdict that names the step; one that is not of any step is of the last."""
        told = reason if step is None else f"step {step}: {reason}"
        return Score(value, told, name=self.name, step=step)


class _Counted(TranscriptScorer):
    kind: ClassVar[str]
    noun: ClassVar[str]

    def __init__(self, most: int | None, least: int | None, field: str | None, name: str) -> None:
        super().__init__(self.kind, name, field)
        for setting, number in (("most", most), ("least", least)):
            if number is not None and not is_whole(number, least=0):
                raise bad_setting(self.kind, setting, f"{number!r} is not a whole number from 0 up")
        if most is None and least is None and field is None:
            raise bad_setting(self.kind, "most", "it is missing", "give most, least or field")
        self._most, self._least = most, least
        self.fingerprint = fingerprint_of(self.kind, 1, most=most, least=least, field=field)

    def _judge(self, transcript: Transcript, given: Json) -> Score:
        most = self._most
        if self.field is not None:
            most = _whole(self.field, given)
        used = self._used(transcript)
        if most is not None and used > most:
            reason = f"{used} {self.noun}s were used, at most {most} are allowed"
            return self._wrong(most / used, reason, self._step_of(transcript, most + 1))
        if self._least is not None and used < self._least:
            reason = f"{used} {self.noun}s were used, at least {self._least} are expected"
            return self._wrong(used / self._least, reason, transcript.steps or None)
        return self._right(f"{counted(used, self.noun)}")

    @abstractmethod
    def _used(self, transcript: Transcript) -> int: ...

    @abstractmethod
    def _step_of(self, transcript: Transcript, number: int) -> int: ...


class Steps(_Counted):
    """1 when the run took at most `most` steps (and at least `least`), else the share of them.

    A step is one message of the assistant, with all calls that it makes. A `field` holds the item's
    own limit.
    """

    kind = "steps"
    noun = "step"

    def __init__(
        self,
        most: int | None = None,
        *,
        least: int | None = None,
        field: str | None = None,
        name: str = "steps",
    ) -> None:
        super().__init__(most, least, field, name)

    def _used(self, transcript: Transcript) -> int:
        return transcript.steps

    def _step_of(self, transcript: Transcript, number: int) -> int:
        return number


class Turns(_Counted):
    """1 when the user had to speak at most `most` times (and at least `least`), else the share.

    A `field` holds the item's own limit.
    """

    kind = "turns"
    noun = "turn"

    def __init__(
        self,
        most: int | None = None,
        *,
        least: int | None = None,
        field: str | None = None,
        name: str = "turns",
    ) -> None:
        super().__init__(most, least, field, name)

    def _used(self, transcript: Transcript) -> int:
        return transcript.turns

    def _step_of(self, transcript: Transcript, number: int) -> int:
        """The answer to the first turn that was one too many."""
        turn = 0
        for step, message in transcript.numbered():
            turn += is_turn(message)
            if turn == number:
                return min(step + 1, transcript.steps)
        return transcript.steps


class GoalReached(TranscriptScorer):
    """1 when the conversation ended because the simulated user reached its goal, else 0."""

    def __init__(self, *, name: str = "goal_reached") -> None:
        super().__init__("goal_reached", name)
        self.fingerprint = fingerprint_of("goal_reached", 1)

    def _judge(self, transcript: Transcript, given: Json) -> Score:
        turns = f"{counted(transcript.turns, 'turn')}"
        if transcript.ended == GOAL:
            return self._right(f"the user reached the goal in {turns}")
        ended = transcript.ended or "not said"
        reason = f"the user did not reach the goal in {turns} (ended: {ended})"
        return self._wrong(0.0, reason, transcript.steps or None)


def _whole(field: str, given: Json) -> int:
    """A number of the item, which a CSV file holds as text."""
    try:
        return int(given)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise MissingFieldError(f"the item's field {field!r} holds no whole number") from None
