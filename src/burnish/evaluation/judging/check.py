"""Check of a judge: all rows asked in all ways, and what its verdicts come to."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from burnish.domain import Spending, UnavailableError, UsageError
from burnish.evaluation.judging.agreement import (
    Effect,
    Estimate,
    cohens_kappa,
    confusion,
    effect,
    flip_rate,
    share,
)
from burnish.evaluation.judging.labels import PASS_FROM, LabelledRow, categories, category
from burnish.evaluation.judging.probes import Answer, CheckedJudge, Probe

LENIENCY = "leniency"
_CHANGES = (Probe.ORDER, Probe.POSITION, Probe.LENGTH, Probe.WORDING)
# Answers by row, in the rows' order; None where the row was not asked so.
Answers = Mapping[tuple[Probe, int], Sequence[Answer | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """A row on which the judge and people differ."""

    id: str
    label: float
    verdict: float
    output: str
    reason: str

    def to_json(self) -> dict[str, Any]:
        """By name."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeReport:
    """What a judge is worth: how it agrees with labels, what sways it, how steady it is, what it costs.

    `effects` are mean changes of its verdict, from 0 to 1, that nothing about the output justifies:
    `leniency` against the labels, the others against the same row shown otherwise. `unprobed` says
    what could not be tried, and why.
    """

    name: str
    pairwise: bool
    rows: int
    errors: int
    agreement: Estimate
    kappa: Estimate | None
    distance: Estimate
    confusion: Mapping[str, Mapping[str, int]]
    effects: tuple[Effect, ...]
    noise: Estimate | None
    repeats: int
    disagreements: tuple[Disagreement, ...]
    spending: Spending
    votes: Mapping[str, float]
    unprobed: Mapping[str, str]

    def effect(self, name: str) -> Effect | None:
        """By its name."""
        return next((one for one in self.effects if one.name == name), None)

    def to_json(self) -> dict[str, Any]:
        """As `burnish judge check --json` prints it."""
        kappa, noise = self.kappa, self.noise
        return {
            "judge": self.name,
            "kind": "pairwise" if self.pairwise else "judge",
            "rows": self.rows,
            "errors": self.errors,
            "agreement": self.agreement.to_json(),
            "kappa": None if kappa is None else kappa.to_json(),
            "distance": self.distance.to_json(),
            "confusion": {label: dict(row) for label, row in self.confusion.items()},
            "effects": [one.to_json() for one in self.effects],
            "unprobed": dict(self.unprobed),
            "noise": None if noise is None else {**noise.to_json(), "repeats": self.repeats},
            "disagreements": [one.to_json() for one in self.disagreements],
            "usage": self.spending.to_json(),
            "cost_usd": self.spending.total.cost_usd,
        }


async def check_judge(
    judge: CheckedJudge,
    rows: Sequence[LabelledRow],
    *,
    repeats: int = 2,
    probes: Sequence[Probe] = _CHANGES,
    concurrency: int = 16,
    progress: Callable[[int, int], None] | None = None,
) -> JudgeReport:
    """Ask the judge about all rows, `repeats` times as they are and once in each other way."""
    if not rows:
        raise UsageError(
            what=f"the judge {judge.name!r} cannot be checked",
            why="no row has a label",
            fix="give rows with outputs and labels",
            code="empty_dataset",
        )
    asked = [(Probe.PLAIN, repeat) for repeat in range(max(repeats, 1))]
    wanted = set(probes) | ({Probe.ORDER} if judge.pairwise else set())
    asked += [(probe, 0) for probe in _CHANGES if probe in wanted]
    if judge.pairwise:
        asked += [(Probe.ORDER, repeat) for repeat in range(1, max(repeats, 1))]
    gate, done = asyncio.Semaphore(concurrency), itertools.count(1)
    total = len(rows) * len(asked)

    async def ask(row: LabelledRow, probe: Probe, repeat: int) -> Answer | None:
        found = None
        if judge.asks(probe, row):
            async with gate:
                found = await judge.answer(row, probe, repeat)
        if progress is not None:
            progress(next(done), total)
        return found

    answers: dict[tuple[Probe, int], Sequence[Answer | None]] = {}
    # Way by way, so that no more tasks wait than there are rows.
    for probe, repeat in asked:
        answers[probe, repeat] = await asyncio.gather(*(ask(row, probe, repeat) for row in rows))
    return report_of(judge.name, rows, answers, pairwise=judge.pairwise)


def report_of(
    name: str, rows: Sequence[LabelledRow], answers: Answers, *, pairwise: bool
) -> JudgeReport:
    """What the answers come to; UnavailableError where no row has a verdict."""
    verdicts = [_verdict(answers, number, pairwise) for number in range(len(rows))]
    judged = [number for number, one in enumerate(verdicts) if one is not None]
    if not judged:
        first = next((one for given in answers.values() for one in given if one), None)
        raise UnavailableError(
            what=f"the judge {name!r} could not be checked",
            why="it gave no verdict on any row" + (f": {first.error}" if first else ""),
            fix="check its model and its criteria, and run it again",
        )
    found = {number: one for number, one in enumerate(verdicts) if one is not None}
    labels = [category(rows[one].label, pairwise=pairwise) for one in judged]
    words = [_word(found[one], pairwise) for one in judged]
    table = confusion(labels, words, categories(pairwise=pairwise))
    pairs = [(rows[one].label, found[one].value) for one in judged]
    effects, unprobed = _effects(rows, answers, found, pairwise=pairwise)
    return JudgeReport(
        name=name,
        pairwise=pairwise,
        rows=len(judged),
        errors=len(rows) - len(judged),
        agreement=share([float(a == b) for a, b in zip(labels, words, strict=True)]),
        kappa=cohens_kappa(table),
        distance=share([abs(label - value) for label, value in pairs]),
        confusion=table,
        effects=effects,
        noise=_noise(answers, judged),
        repeats=sum(probe is Probe.PLAIN for probe, _ in answers),
        disagreements=_disagreements(rows, found, pairwise=pairwise),
        spending=Spending.sum(
            one.spending for given in answers.values() for one in given if one is not None
        ),
        votes={
            rows[one].id: found[one].value if pairwise else float(found[one].passed)
            for one in judged
        },
        unprobed=unprobed,
    )


def _usable(answers: Answers, key: tuple[Probe, int], number: int) -> Answer | None:
    one = answers[key][number] if key in answers else None
    return None if one is None or one.error is not None else one


def _verdict(answers: Answers, number: int, pairwise: bool) -> Answer | None:
    """The verdict that counts: of two outputs, that of both orders together."""
    plain = _usable(answers, (Probe.PLAIN, 0), number)
    if plain is None or not pairwise:
        return plain
    other = _usable(answers, (Probe.ORDER, 0), number)
    if other is None:
        return None
    value = (plain.value + other.value) / 2
    return Answer(value=value, passed=value >= PASS_FROM, reason=plain.reason)


def _word(answer: Answer, pairwise: bool) -> str:
    if pairwise:
        return category(answer.value, pairwise=True)
    return "pass" if answer.passed else "fail"


def _effects(
    rows: Sequence[LabelledRow],
    answers: Answers,
    found: Mapping[int, Answer],
    *,
    pairwise: bool,
) -> tuple[tuple[Effect, ...], dict[str, str]]:
    effects: list[Effect] = []
    unprobed: dict[str, str] = {}
    if not pairwise:
        graded = any(rows[one].label not in (0, 1) for one in found)
        labels = [rows[one].label for one in found]
        given = [one.value if graded else float(one.passed) for one in found.values()]
        effects.append(effect(LENIENCY, labels, given))
    for probe in _CHANGES:
        if (probe, 0) not in answers:
            continue
        both = [
            (plain, other)
            for number in found
            if (plain := _usable(answers, (Probe.PLAIN, 0), number))
            and (other := _usable(answers, (probe, 0), number))
        ]
        if not both:
            unprobed[probe.value] = "no row shows the judge enough for it to change anything"
            continue
        flips = sum(_word(a, pairwise) != _word(b, pairwise) for a, b in both)
        before, after = [a.value for a, _ in both], [b.value for _, b in both]
        if pairwise and probe is Probe.ORDER:
            # As the first less as the second: above 0 it prefers what comes first.
            before, after = after, before
        effects.append(effect(probe.value, before, after, flips))
    return tuple(effects), unprobed


def _noise(answers: Answers, judged: Sequence[int]) -> Estimate | None:
    """How often two askings of one row differ in the word; of two outputs, in the same order."""
    by_row: list[list[bool]] = []
    for number in judged:
        said = [
            one.passed
            for probe, repeat in answers
            if probe is Probe.PLAIN and (one := _usable(answers, (probe, repeat), number))
        ]
        by_row.append(said)
    return flip_rate(by_row)


def _disagreements(
    rows: Sequence[LabelledRow], found: Mapping[int, Answer], *, pairwise: bool
) -> tuple[Disagreement, ...]:
    """Where it errs, the farthest from the label first."""
    wrong = [
        Disagreement(
            id=rows[number].id,
            label=rows[number].label,
            verdict=one.value,
            output=rows[number].output,
            reason=one.reason,
        )
        for number, one in found.items()
        if _word(one, pairwise) != category(rows[number].label, pairwise=pairwise)
    ]
    return tuple(sorted(wrong, key=lambda one: (-abs(one.label - one.verdict), one.id)))


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelReport:
    """Several judges together: each by itself, how they agree, and what their mean is worth."""

    judges: tuple[JudgeReport, ...]
    panel: JudgeReport
    between: Mapping[tuple[str, str], Estimate | None]

    def to_json(self) -> dict[str, Any]:
        """As `burnish judge check --json` prints it."""
        left_out = ("effects", "unprobed", "noise", "usage", "cost_usd", "kind", "judge")
        panel = self.panel.to_json()
        return {
            "judges": [one.to_json() for one in self.judges],
            "panel": {name: value for name, value in panel.items() if name not in left_out},
            "between": [
                {"judges": list(pair), "kappa": None if kappa is None else kappa.to_json()}
                for pair, kappa in self.between.items()
            ],
        }


def panel_of(reports: Sequence[JudgeReport], rows: Sequence[LabelledRow]) -> PanelReport:
    """The panel's verdict is the mean of its judges', on rows that all of them judged."""
    pairwise = reports[0].pairwise
    every = [row for row in rows if all(row.id in one.votes for one in reports)]
    means = [sum(one.votes[row.id] for one in reports) / len(reports) for row in every]
    answers = [Answer(value=mean, passed=mean >= PASS_FROM) for mean in means]
    given: dict[tuple[Probe, int], Sequence[Answer | None]] = {(Probe.PLAIN, 0): answers}
    if pairwise:
        given[Probe.ORDER, 0] = answers
    words = categories(pairwise=pairwise)
    between = {
        (a.name, b.name): cohens_kappa(
            confusion(
                [category(a.votes[row.id], pairwise=pairwise) for row in every],
                [category(b.votes[row.id], pairwise=pairwise) for row in every],
                words,
            )
        )
        for a, b in itertools.combinations(reports, 2)
    }
    panel = report_of("panel", every, given, pairwise=pairwise)
    return PanelReport(judges=tuple(reports), panel=panel, between=between)
