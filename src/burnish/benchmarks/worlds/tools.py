"""World of tool agents: a simulated model that calls tools by their descriptions, with known mistakes.

It uses a wrong value of an enum until some text says the right one, confuses two tools, leaves out a
parameter that must be given, and calls a tool too early. What helps is known: a fact in the text of the
tool or parameter that it is about works best, one in the system prompt works less well, one in the text
of another tool hardly. `expectation` is exact. Draws depend on what is asked and never on when.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from .draws import digest, draw, pick, shuffled

Row = dict[str, Any]
Sections = Mapping[str, str]
Call = dict[str, Any]

TOOLS: dict[str, tuple[str, dict[str, tuple[str, ...]]]] = {
    # Each with its description, and its parameters with the codes that they take, if any.
    "find_orders": ("Finds orders.", {"customer": (), "status": ("Q1", "Q2", "Q3"), "limit": ()}),
    "find_invoices": ("Finds invoices.", {"customer": ()}),
    "refund": ("Refunds an order.", {"order": (), "cause": ("C10", "C20", "C30"), "currency": ()}),
    "open_case": ("Opens a case.", {"order": ()}),
    "cancel": ("Cancels an order.", {"order": (), "scope": ("A7", "B7", "D7")}),
    "hold": ("Holds an order.", {"order": ()}),
    "check_stock": ("Checks the stock.", {"order": ()}),
    "ship": ("Ships an order.", {"order": (), "speed": ("X4", "N4", "Z4"), "insured": ()}),
    "weigh": ("Weighs a parcel.", {"order": ()}),
    "send_note": ("Sends a note.", {"order": (), "channel": ("M2", "P2", "L2"), "sender": ()}),
    "call_back": ("Calls a customer back.", {"order": ()}),
}
OPTIONAL = frozenset(
    {"status", "limit", "cause", "currency", "scope", "speed", "insured", "channel", "sender"}
)
_ENUMS = {
    ("find_orders", "status"): ("pending", "settled", "void"),
    ("refund", "cause"): ("broken", "late", "unwanted"),
    ("cancel", "scope"): ("partial", "whole", "remainder"),
    ("ship", "speed"): ("express", "overnight", "economy"),
    ("send_note", "channel"): ("mail", "phone", "letter"),
}
_PAIRS = {
    ("find_orders", "find_invoices"): ("billing", "delivery"),
    ("cancel", "hold"): ("fraud", "holiday"),
    ("send_note", "call_back"): ("urgent", "legal"),
}
_OMITTED = (
    ("refund", "currency"),
    ("ship", "insured"),
    ("send_note", "sender"),
    ("find_orders", "limit"),
)
_FIRST = (("refund", "open_case"), ("cancel", "check_stock"), ("ship", "weigh"))
BASELINE = "You serve the order desk of a shop. Use the tools, then say that you are done."
_BREAK = re.compile(r"\n+|(?<=[.!?;])\s+")
_NEVER = re.compile(r"\bnever\b", re.IGNORECASE)
_ALWAYS = re.compile(r"\b(always|must|required)\b", re.IGNORECASE)
_REF = re.compile(r"\bR-\d{5}\b")
# How well a fact works by where it stands, and how often it goes well without one.
HOME, SYSTEM, ELSEWHERE = 0.95, 0.8, 0.3
_BASE = {"enum": 0.3, "confusion": 0.35, "omission": 0.15, "order": 0.1}
_CONFUSED, _MISLED = 0.45, 0.05
_TRAIN, _VALIDATION, _PAIRED = 60, 60, 0.3


@dataclass(frozen=True)
class Trap:
    """One mistake that the model makes until a text helps it.

    Of an enum `value` is the code for `word`; of a confusion the tool for `word`; of an omission the
    field that must be given; of an order the tool that comes first.
    """

    kind: str
    tool: str
    value: str
    word: str = ""
    field: str = ""
    others: tuple[str, ...] = ()
    share: float = 0.0

    @property
    def name(self) -> str:
        """What tells it from others."""
        return f"{self.kind}:{self.tool}:{self.field or self.value}:{self.word}"

    @property
    def homes(self) -> frozenset[str]:
        """The sections in which a fact about it works best."""
        own = {f"tools.{self.tool}.description"}
        if self.field:
            own.add(f"tools.{self.tool}.parameters.{self.field}")
        if self.kind in ("confusion", "order"):
            own |= {f"tools.{one}.description" for one in (self.value, *self.others)}
        return frozenset(own)

    def apart(self, other: Trap) -> bool:
        """Whether a task may hold both: they share no tool."""
        return not self._tools & other._tools

    @property
    def _tools(self) -> set[str]:
        return {self.tool, self.value} if self.kind in ("confusion", "order") else {self.tool}

    def stated(self, text: str) -> frozenset[str]:
        """What a text says of it: its own value, or others that are wrong."""
        return frozenset(
            said for sentence in _BREAK.split(text) for said in self._said(sentence.strip())
        )

    def _said(self, sentence: str) -> Iterator[str]:
        if _REF.search(sentence):
            return  # A quotation of one task says nothing of others.
        if self.kind in ("enum", "confusion"):
            at = _place(sentence, self.word)
            if at is not None:
                rest = [
                    one for one in (self.value, *self.others) if _place(sentence, one) is not None
                ]
                yield from rest
        elif self.kind == "omission":
            if _place(sentence, self.field) is not None and _place(sentence, self.tool) is not None:
                if _NEVER.search(sentence):
                    yield "left out"
                elif _ALWAYS.search(sentence):
                    yield self.value
        else:
            first, then = _place(sentence, self.value), _place(sentence, self.tool)
            if first is not None and then is not None and "first" in sentence.lower():
                yield self.value if first < then else "too early"


def _place(text: str, word: str) -> int | None:
    found = re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text, re.IGNORECASE)
    return None if found is None else found.start()


class ToolWorld:
    """Tasks of an order desk. The same interface as `World`; outputs are JSON lists of calls."""

    name: ClassVar[str] = "tools"
    about: ClassVar[str] = "descriptions of tools that lead to wrong calls"

    def __init__(self, seed: int, *, latency_seconds: float = 0.0) -> None:
        self.seed, self.latency_seconds = seed, latency_seconds
        self.key = f"{self.name}:{seed}"
        self.traps = self._make_traps()
        self.sections = baseline_sections()
        self.train = self.sample("train", _TRAIN)
        self.validation = self.sample("validation", _VALIDATION)
        self.calls = self.reflections = 0
        self._lock = threading.Lock()
        self.tried: dict[tuple[tuple[str, str], ...], None] = {}

    def answer(self, sections: Sections, item: Mapping[str, Any]) -> str:
        """All calls that the simulated model makes, as JSON: one counted evaluation."""
        self.count(sections)
        return json.dumps([call for step in self.steps(sections, item) for call in step])

    def count(self, sections: Sections) -> None:
        """Note one evaluation."""
        own = {path: sections.get(path, text) for path, text in self.sections.items()}
        with self._lock:
            self.calls += 1
            self.tried[tuple(own.items())] = None

    def steps(self, sections: Sections, item: Mapping[str, Any]) -> list[list[Call]]:
        """The calls of each step that the model makes in a task."""
        ref = _REF.search(str(item["message"]))
        number = "" if ref is None else ref.group()
        return [
            step for trap in self.traps_of(item) for step in self._calls(sections, trap, number)
        ]

    def score(self, output: str, item: Mapping[str, Any]) -> tuple[float, str]:
        """The share of traps that were avoided, and in words what was wrong at which step."""
        try:
            made: list[Call] = json.loads(output)
        except ValueError:
            made = []
        traps = self.traps_of(item)
        wrong = [said for trap in traps if (said := _complaint(trap, made))]
        told = " ".join(wrong) or "All calls are right."
        return 1.0 - len(wrong) / max(len(traps), 1), told

    def reflect(self, prompt: str) -> str:
        """The simulated reflection model: any prompt in, a text in a ``` fence out."""
        with self._lock:
            self.reflections += 1
        from .tool_reflector import ToolReflector  # noqa: PLC0415 - it knows this module

        return ToolReflector(self).answer(prompt)

    def expectation(self, sections: Sections) -> float:
        """The exact mean score over all tasks that could come; costs no call."""
        chances = {trap.name: self.chance(sections, trap)[1] for trap in self.traps}
        whole = 0.0
        for first in self.traps:
            alone = chances[first.name]
            paired = sum(
                second.share
                * ((alone + chances[second.name]) / 2 if first.apart(second) else alone)
                for second in self.traps
            )
            whole += first.share * ((1 - _PAIRED) * alone + _PAIRED * paired)
        return whole

    @property
    def start(self) -> float:
        """The expectation of the baseline."""
        return self.expectation(self.sections)

    @property
    def maximum(self) -> float:
        """The best expectation that can be reached."""
        return HOME

    @property
    def best_tried(self) -> float:
        """The best expectation of all that was tried on an item."""
        return max((self.expectation(dict(one)) for one in self.tried), default=self.start)

    def chance(self, sections: Sections, trap: Trap) -> tuple[str, float]:
        """How the texts stand to a trap, and the chance that it is avoided."""
        said: set[str] = set()
        weight = 0.0
        for path, text in sections.items():
            stated = trap.stated(text)
            if not stated:
                continue
            said |= stated
            if trap.value in stated:
                place = HOME if path in trap.homes else SYSTEM if path == "system" else ELSEWHERE
                weight = max(weight, place)
        if not said:
            return "silent", _BASE[trap.kind]
        if trap.value not in said:
            return "misled", _MISLED
        return ("known", weight) if len(said) == 1 else ("confused", min(weight, _CONFUSED))

    def sample(self, split: str, count: int) -> list[Row]:
        """Tasks drawn from the world's distribution."""
        return [self._row(split, number) for number in range(count)]

    def traps_of(self, item: Mapping[str, Any]) -> list[Trap]:
        """The traps of a task, in the order of its text."""
        by_name = {trap.name: trap for trap in self.traps}
        return [by_name[name] for name in str(item["traps"]).split()]

    def _row(self, split: str, number: int) -> Row:
        key = (self.key, split, number)
        first = self._drawn(draw(*key, "trap"))
        both = [first]
        if draw(*key, "pair") < _PAIRED:
            second = self._drawn(draw(*key, "second"))
            both += [second] if first.apart(second) else []
        order = 100 + int(900 * draw(*key, "order"))
        ref = f"R-{10_000 + int(90_000 * draw(*key, 'ref'))}"
        asked = " Then ".join(_wish(trap, order, key) for trap in both)
        return {
            "id": f"{split}-{number:03d}",
            "message": f"[{ref}] {asked}",
            "traps": " ".join(trap.name for trap in both),
            "split": split,
        }

    def _drawn(self, place: float) -> Trap:
        for trap in self.traps:
            place -= trap.share
            if place < 0:
                return trap
        return self.traps[-1]

    def _make_traps(self) -> tuple[Trap, ...]:
        """Two enums with two words each, two confusions, two omissions and one order, by the seed."""
        made: list[Trap] = []
        for tool, field in shuffled(list(_ENUMS), self.key, "enums")[:2]:
            codes = shuffled(TOOLS[tool][1][field], self.key, "codes", tool)
            for word, code in list(zip(_ENUMS[tool, field], codes, strict=True))[:2]:
                others = tuple(one for one in codes if one != code)
                made.append(Trap("enum", tool, code, word, field, others))
        for one, other in shuffled(list(_PAIRS), self.key, "pairs")[:2]:
            word = pick(_PAIRS[one, other], self.key, "word", one)
            right, wrong = shuffled((one, other), self.key, "right", one)
            made.append(Trap("confusion", wrong, right, word, others=(wrong,)))
        for tool, field in shuffled(_OMITTED, self.key, "omitted")[:2]:
            made.append(Trap("omission", tool, field, field=field))
        tool, first = pick(_FIRST, self.key, "first")
        made.append(Trap("order", tool, first))
        weights = [1.0 + draw(self.key, "share", trap.name) for trap in made]
        return tuple(
            Trap(**{**vars(trap), "share": weight / sum(weights)})
            for trap, weight in zip(made, weights, strict=True)
        )

    def _calls(self, sections: Sections, trap: Trap, ref: str) -> list[list[Call]]:
        """The steps by which the model goes about one wish, right or wrong."""
        state, chance = self.chance(sections, trap)
        right = draw("call", self.key, ref, trap.name, state, f"{chance:.4f}") < chance
        if trap.kind == "enum":
            code = trap.value if right else pick(trap.others, self.key, ref, trap.name, state)
            return [[_call(trap.tool, ref, **{trap.field: code})]]
        if trap.kind == "confusion":
            return [[_call(trap.value if right else trap.tool, ref)]]
        if trap.kind == "omission":
            return [[_call(trap.tool, ref, **({trap.field: "given"} if right else {}))]]
        early = [[_call(trap.tool, ref)]]
        return [[_call(trap.value, ref)], *early] if right else early


def baseline_sections() -> dict[str, str]:
    """The texts as they are before anybody improves them; parameters have none."""
    found = {"system": BASELINE}
    for tool, (text, fields) in TOOLS.items():
        found[f"tools.{tool}.description"] = text
        found |= {f"tools.{tool}.parameters.{field}": "" for field in fields}
    return found


def _call(tool: str, ref: str, **given: str) -> Call:
    fields = TOOLS[tool][1]
    must = {field: ref for field in fields if field not in OPTIONAL}
    return {"name": tool, "arguments": {**must, **given}}


def _wish(trap: Trap, order: int, key: tuple[object, ...]) -> str:
    opening = pick(("Please", "Could you", "We need you to"), *key, "opening")
    if trap.kind == "enum":
        return f"{opening} use {trap.tool} on order {order}; it is {trap.word}."
    if trap.kind == "confusion":
        return f"{opening} see to the {trap.word} matter of order {order}."
    return f"{opening} use {trap.tool} on order {order}."


def _complaint(trap: Trap, made: Sequence[Call]) -> str:
    """What was wrong with the calls for one wish; empty when nothing was."""
    names = [call["name"] for call in made]
    tool = trap.value if trap.kind == "confusion" else trap.tool
    if trap.kind == "confusion":
        if trap.value in names:
            return ""
        step = names.index(trap.tool) + 1 if trap.tool in names else 1
        return f"Step {step}: {trap.tool} was called for {trap.word}; it is {trap.value}."
    if tool not in names:
        return f"Step 1: {tool} was not called."
    step = names.index(tool) + 1
    given = made[step - 1]["arguments"]
    if trap.kind == "enum" and given.get(trap.field) != trap.value:
        said = given.get(trap.field)
        return (
            f"Step {step}: {tool} was called with {trap.field}={said}; "
            f"for {trap.word} it is {trap.value}."
        )
    if trap.kind == "omission" and trap.field not in given:
        return f"Step {step}: {tool} was called without {trap.field}, which must be given."
    if trap.kind == "order" and trap.value not in names[: step - 1]:
        return f"Step {step}: {tool} was called before {trap.value}, which comes first."
    return ""


def of_prompt(prompt: str) -> str:
    """A name for the draws of one question."""
    return digest(prompt)
