"""Synthetic rows: a model writes rows like those there are, marked, unlike the real ones."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from burnish.domain import (
    Agent,
    BurnishError,
    Item,
    Json,
    Message,
    Model,
    ModelRequest,
    Purpose,
    Spending,
    UsageError,
)
from burnish.domain.wording import counted
from burnish.evaluation.scorers.json_values import NotJsonError, parse_json
from burnish.evaluation.suite import SYNTHETIC, Suite

_EACH = 10
_SHOWN = 6
# Questions after which nothing new is to be expected.
_FRUITLESS = 3
_PART = 4000
# Texts that share so much, in percent, are the same to a reader.
_ALIKE = 90
_NOT_WRITTEN = frozenset({SYNTHETIC, "source", "feedback", "steps", "metadata"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RowRequest:
    """What is wanted: how many rows, and what they are made from besides the training rows."""

    number: int = 20
    rules: str = ""
    documents: Sequence[tuple[str, str]] = ()
    hard: int = 0
    seed: int = 0


@dataclass(slots=True, kw_only=True)
class SyntheticRows:
    """The rows, what they cost, and how many were refused, by reason."""

    rows: list[dict[str, Json]] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    spending: Spending = field(default_factory=Spending)


async def make_rows(suite: Suite, agent: Agent, model: Model, request: RowRequest) -> SyntheticRows:
    """Rows that a model writes from training rows, rules and documents; never from test rows."""
    maker = _Maker(suite, agent, model, request)
    await maker.make()
    if request.hard:
        await maker.hardest_first(request.hard)
    return maker.made


class _Maker:
    def __init__(self, suite: Suite, agent: Agent, model: Model, request: RowRequest) -> None:
        self.made = SyntheticRows()
        self._agent, self._model, self._request = agent, model, request
        self._draw = random.Random(request.seed)  # noqa: S311 - rows are drawn, no secrets
        splits = suite.splits()
        items = list(suite.dataset.items())
        self._train = [item for item in items if splits.get(item.id, "train") == "train"]
        fields = [name for name in suite.dataset.index().fields if name not in _NOT_WRITTEN]
        answers = [name for name in suite.scorers.answer_fields if name in fields]
        self._columns = [*(name for name in fields if name not in answers), *answers]
        self._answer = answers[0] if answers else None
        self._labels = tuple(getattr(agent, "labels", ()))
        # Of all splits: a row that the test split has would be searched on.
        self._known = [_plain(item.data, self._asked) for item in items]

    @property
    def _asked(self) -> list[str]:
        """The columns that are no answer: by them two rows are the same question."""
        return [name for name in self._columns if name != self._answer]

    async def make(self) -> None:
        fruitless = 0
        for turn in count():
            if len(self.made.rows) >= self._request.number or fruitless >= _FRUITLESS:
                return
            before = len(self.made.rows)
            for row in await self._ask(turn):
                if len(self.made.rows) < self._request.number:
                    self._take(row)
            fruitless = 0 if len(self.made.rows) > before else fruitless + 1

    async def _ask(self, turn: int) -> list[Any]:
        source = (
            self._request.documents[turn % len(self._request.documents)]
            if (self._request.documents)
            else None
        )
        shown = self._draw.sample(self._train, min(_SHOWN, len(self._train)))
        question = ModelRequest(
            messages=(
                Message("system", _system(self._columns, self._answer, self._labels)),
                Message("user", self._task(shown, source)),
            ),
            schema=_schema(self._columns),
            repeat=turn,
        )
        response = await self._model.complete(question)
        self.made.spending += Spending.on(Purpose.PROPOSE, response.usage)
        try:
            told = parse_json(response.text, repair=True)
        except NotJsonError:
            self.made.refused["answers that are no JSON"] += 1
            return []
        rows = told.get("rows") if isinstance(told, Mapping) else told
        named = None if source is None else source[0]
        return [
            {**row, "source": {"tool": "burnish", "model": self._model.name, "document": named}}
            if isinstance(row, Mapping)
            else row
            for row in (rows if isinstance(rows, list) else [])
        ]

    def _task(self, shown: Sequence[Item], source: tuple[str, str] | None) -> str:
        rows = [{name: item.data.get(name) for name in self._columns} for item in shown]
        parts = (
            [f"Rows that there are:\n{json.dumps(rows, ensure_ascii=False, indent=1)}"]
            if rows
            else []
        )
        if self._request.rules:
            parts.append(f"Rules that the rows must show:\n{self._request.rules}")
        if source is not None:
            parts.append(
                f"Write rows about this document only:\n<document>\n{source[1]}\n</document>"
            )
        made = [_plain(row, self._asked)[:200] for row in self.made.rows[-_EACH:]]
        if made:
            parts.append(
                "Already written, do not repeat:\n" + "\n".join(f"- {text}" for text in made)
            )
        left = min(_EACH, self._request.number - len(self.made.rows))
        return "\n\n".join([*parts, f"Write {counted(left, 'new row')}, each unlike all others."])

    def _take(self, row: Any) -> None:
        why = self._refusal(row)
        if why is not None:
            self.made.refused[why] += 1
            return
        self._known.append(_plain(row, self._asked))
        kept = {name: row[name] for name in (*self._columns, "source")}
        self.made.rows.append({**kept, SYNTHETIC: True, "split": "train"})

    def _refusal(self, row: Any) -> str | None:
        from rapidfuzz import fuzz, process  # noqa: PLC0415 - only here

        if not isinstance(row, Mapping) or any(
            row.get(name) in (None, "") for name in self._columns
        ):
            return "rows with columns missing"
        if self._answer is not None and self._labels and row[self._answer] not in self._labels:
            return "rows with an unknown label"
        text = _plain(row, self._asked)
        if process.extractOne(text, self._known, scorer=fuzz.token_sort_ratio, score_cutoff=_ALIKE):
            return "rows like one that there is"
        return None

    async def hardest_first(self, runs: int) -> None:
        """Rows on which answers disagree come first; one whose answers fail comes last."""
        marked = []
        for number, row in enumerate(self.made.rows):
            data = {name: row[name] for name in self._columns}
            item = Item(id=f"synthetic-{number}", data=data, split="train")
            answers = []
            for repeat in range(runs):
                try:
                    output = await self._agent.run(self._agent.configuration, item, repeat=repeat)
                except BurnishError:
                    break
                self.made.spending += output.spending
                answers.append(output.text.strip().casefold())
            marked.append((_disagreement(answers, row, self._answer), row))
        ordered = sorted(marked, key=lambda one: -one[0])
        self.made.rows = [{**row, "disagreement": mark} for mark, row in ordered if mark >= 0]
        self.made.refused["rows that the agent could not answer"] += sum(m < 0 for m, _ in ordered)
        self.made.refused += Counter()


def _disagreement(answers: Sequence[str], row: Mapping[str, Json], field_: str | None) -> float:
    """The share of answers that are not the row's own, or where it has none, not the usual one."""
    if not answers:
        return -1.0
    usual = Counter(answers).most_common(1)[0][0] if field_ is None else str(row[field_])
    return sum(answer != usual.strip().casefold() for answer in answers) / len(answers)


def read_documents(paths: Iterable[Path]) -> list[tuple[str, str]]:
    """Texts of files and of folders' files in parts, each with the name of its file."""
    found = []
    for path in paths:
        files = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
        for file in files:
            try:
                text = file.read_text(encoding="utf-8-sig")
            except (OSError, UnicodeDecodeError) as error:
                why = getattr(error, "strerror", None) or "it is not UTF-8 text"
                raise UsageError(
                    what=f"the document {file} cannot be read",
                    why=str(why),
                    fix="name files of text, or folders that hold only such",
                    code="unreadable_file",
                ) from error
            parts = [text[at : at + _PART] for at in range(0, len(text), _PART)]
            found += [(file.name, part) for part in parts if part.strip()]
    return found


def _system(columns: Sequence[str], answer: str | None, labels: Sequence[str]) -> str:
    lines = [
        "You write rows of a test set, as JSON: an object with a list `rows`. Each row has the fields "
        f"{', '.join(columns)}, in the style, the length and the languages of the rows that there are.",
        "Cover what those rows do not: other wordings, rare cases, mistakes in spelling, hard cases at "
        "the border of two answers. Make up names and numbers; use none of real people.",
    ]
    if answer is not None:
        lines.append(
            f"The field {answer} is the right answer. Be sure of it, or leave the row out."
        )
    if answer is not None and labels:
        lines.append(f"It is one of: {', '.join(labels)}. Use each about equally often.")
    return "\n".join(lines)


def _schema(columns: Sequence[str]) -> dict[str, Json]:
    anything: dict[str, Json] = {"type": ["string", "number", "boolean"]}
    row: dict[str, Json] = {
        "type": "object",
        "properties": dict.fromkeys(columns, anything),
        "required": list(columns),
    }
    return {
        "type": "object",
        "properties": {"rows": {"type": "array", "items": row}},
        "required": ["rows"],
    }


def _plain(row: Mapping[str, Json], columns: Sequence[str]) -> str:
    return " ".join(" ".join(str(row.get(name, "")) for name in columns).casefold().split())
