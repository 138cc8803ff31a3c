"""Probes of a judge: one row asked as it is, and changed in ways that should not matter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from burnish.domain import AgentOutput, Json, Message, Purpose, Spending
from burnish.evaluation.judging.labels import PASS_FROM, LabelledRow
from burnish.evaluation.scorers.judge import LLMJudge, judge_messages, system_text
from burnish.evaluation.scorers.pairwise import (
    SWAPPED,
    WORTH,
    Choice,
    PairwiseJudge,
    choice_messages,
    choice_text,
)

_AGAIN = "{text}\n\nTo say it once more: {text}"
_REWORDED = "Go by what follows, and by nothing else.\n{criteria}\nThese are all the criteria."


class Probe(StrEnum):
    """How a row is shown."""

    PLAIN = "plain"
    # The same material in another order: the item's fields, or which of two outputs comes first.
    ORDER = "order"
    # The output before the item's fields, not after them.
    POSITION = "position"
    # The output said twice: longer, and no better.
    LENGTH = "length"
    # The same criteria in other words.
    WORDING = "wording"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A judge's verdict on a row from 0 to 1, and whether that passes; an error is no verdict."""

    value: float
    passed: bool
    reason: str = ""
    error: str | None = None
    spending: Spending = field(default_factory=Spending)


class CheckedJudge(Protocol):
    """A judge that can be asked about a row in all these ways.

    A judge of two is asked in one order by `PLAIN` and in the other by `ORDER`; both times the value is
    the output's, 1 where it is better than the other.
    """

    name: str
    pairwise: bool

    def asks(self, probe: Probe, row: LabelledRow) -> bool:
        """Whether the probe changes anything on the row."""
        ...

    async def answer(self, row: LabelledRow, probe: Probe, repeat: int) -> Answer:
        """Its verdict; another `repeat` asks anew what a cache would answer."""
        ...


class ScoringProbe:
    """A judge of single outputs."""

    pairwise = False

    def __init__(self, judge: LLMJudge) -> None:
        self.name = judge.name
        self._judge = judge

    def asks(self, probe: Probe, row: LabelledRow) -> bool:
        """Fields that are not there have neither order nor position."""
        fields = len(self._fields(row))
        return fields >= {Probe.ORDER: 2, Probe.POSITION: 1}.get(probe, 0)

    async def answer(self, row: LabelledRow, probe: Probe, repeat: int) -> Answer:
        """One call, or two where the first answer is no verdict."""
        score = await self._judge.ask(self._messages(row, probe), repeat=repeat)
        passed = score.value >= PASS_FROM if score.passed is None else score.passed
        return Answer(
            value=score.value,
            passed=passed,
            reason=score.reason,
            error=score.error,
            spending=score.spending,
        )

    def _messages(self, row: LabelledRow, probe: Probe) -> tuple[Message, ...]:
        judge, fields = self._judge, self._fields(row)
        criteria = judge.criteria
        if probe is Probe.WORDING:
            criteria = _REWORDED.format(criteria=criteria)
        if probe is Probe.ORDER:
            fields = dict(reversed(list(fields.items())))
        return judge_messages(
            system_text(criteria, judge.threshold, score_only=judge.score_only),
            AgentOutput(text=_output(row, probe)),
            fields,
            output_first=probe is Probe.POSITION,
        )

    def _fields(self, row: LabelledRow) -> Mapping[str, Json]:
        return _seen(row, self._judge.shown)


class ComparingProbe:
    """A judge of two outputs."""

    pairwise = True

    def __init__(self, judge: PairwiseJudge) -> None:
        self.name = judge.name
        self._judge = judge

    def asks(self, probe: Probe, row: LabelledRow) -> bool:
        """Without fields the outputs have no other position."""
        return probe is not Probe.POSITION or bool(self._fields(row))

    async def answer(self, row: LabelledRow, probe: Probe, repeat: int) -> Answer:
        """One call, or two where the first answer is no choice."""
        assert row.other is not None
        output, criteria = _output(row, probe), self._judge.criteria
        if probe is Probe.WORDING:
            criteria = _REWORDED.format(criteria=criteria)
        swapped = probe is Probe.ORDER
        pair = (row.other, output) if swapped else (output, row.other)
        messages = choice_messages(
            choice_text(criteria),
            *pair,
            self._fields(row),
            outputs_first=probe is Probe.POSITION,
        )
        choice, spent = await self._judge.ask(messages, repeat=repeat)
        spending = Spending.on(Purpose.JUDGE, spent)
        if not isinstance(choice, Choice):
            return Answer(value=0.0, passed=False, error=choice, spending=spending)
        value = WORTH[SWAPPED[choice.winner] if swapped else choice.winner]
        return Answer(
            value=value, passed=value >= PASS_FROM, reason=choice.reason, spending=spending
        )

    def _fields(self, row: LabelledRow) -> Mapping[str, Json]:
        return _seen(row, self._judge.shown)


def _seen(row: LabelledRow, names: tuple[str, ...] | None) -> Mapping[str, Json]:
    if names is None:
        return row.fields
    return {name: row.fields[name] for name in names if name in row.fields}


def _output(row: LabelledRow, probe: Probe) -> str:
    return _AGAIN.format(text=row.output) if probe is Probe.LENGTH else row.output
