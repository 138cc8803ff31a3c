"""Mixture worlds: items with hidden codes, a task model that goes by what counts in its prompt."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from math import prod
from statistics import fmean
from typing import Any, ClassVar

from ..draws import digest, draw, pick, shuffled
from ..nature import Nature
from ..world import Kind, Row, Sections, World, kind_at
from .forms import Knowledge, read, words_in, write
from .reflector import Reflector
from .spec import DESKS, FILLERS, FRAMES, Spec, Theme

NOTHING = "no-code"
_REF = re.compile(r"\[no\. (\d{5})\]")
_GUESS, _HABIT, _RARE = 0.1, 0.85, 0.03
"""Chances without a rule: in general; in label worlds for the usual label and for the others."""
_MIXED, _GENERAL, _OVERRULED, _UNAIDED = 0.5, 0.9, 0.5, 0.55
"""A rule among contrary ones; a line on all else alone, and against a rule; without its advice."""
_CLASHING = 0.6
_FADE, _LEAST, _BEYOND = 0.01, 0.3, 0.3
_SIZES = {"label": (1,), "all": (1, 2, 2), "fraction": (2, 3, 4)}
_FILLERS = 4
_TEST = 60


class Mixture(World):
    """A world by its spec. Truth and items hang on the spec's name, luck on the seed as well.

    Luck is hashed from the seed, the texts, the item and how often just these were tried before.
    """

    spec: ClassVar[Spec]

    def __init__(self, seed: int, *, latency_seconds: float = 0.0) -> None:
        self._repeats: Counter[str] = Counter()
        self._readings: dict[str, Knowledge] = {}
        self._chances: dict[str, dict[str, float]] = {}
        super().__init__(seed, latency_seconds=latency_seconds)

    # What an optimizer may use.

    def score(self, output: str, item: Mapping[str, Any]) -> tuple[float, str]:
        """How good an output is, from 0 to 1, and in words what was wrong."""
        head, _, said = output.partition(": ")
        ref = _read_item(str(item["message"]))[0]
        answers = dict(part.split("=", 1) for part in said.split("; ") if "=" in part)
        cues = self._cues_of(item)
        wrong = [cue for cue in cues if answers.get(cue) != self.rules[cue]]
        if not wrong:
            return 1.0, f"Item {ref} is right."
        told = []
        for cue in wrong:
            code = self.rules[cue]
            if draw(self.key, "noise", head, ref, cue) < self.spec.noise:
                code = self.another(code, head, ref, cue)
            given = answers.get(cue, NOTHING)
            told.append(f"Item {ref}: for the {cue} the right code was {code}, not {given}.")
        right = 0.0 if self.spec.score == "all" else 1 - len(wrong) / len(cues)
        return right, " ".join(told)

    def reflect(self, prompt: str) -> str:
        """The scripted reflection model: any prompt in, an answer as a language model gives it."""
        with self._lock:
            self.reflections += 1
        self._wait()
        return Reflector(self, prompt, self._repeat("reflect", prompt)).answer()

    # What measures it.

    def expectation(self, sections: Sections) -> float:
        """The exact mean score over all luck and all items that could come."""
        chances = self.chances(sections)
        joined = prod if self.spec.score == "all" else fmean
        return sum(one.share * joined([chances[cue] for cue in one.topics]) for one in self.kinds)

    def solution(self) -> dict[str, str]:
        """Texts that reach the maximum, as the reflection model would write them."""
        options = [self._solved(advice) for advice in self._helpful_advice]
        return max(options, key=self.expectation)

    @cached_property
    def maximum(self) -> float:
        """The best expectation that can be reached."""
        return self.expectation(self.solution())

    def sample(self, split: str, count: int) -> list[Row]:
        """Items of the population; those to learn from are drawn again until every thing occurs."""
        for attempt in range(1_000):
            size = count + attempt // 50
            key = (self.spec.name, split, attempt)
            kinds = [kind_at(self.kinds, draw(*key, number)) for number in range(size)]
            seen = {cue for kind in kinds for cue in kind.topics}
            if split != "train" or len(seen) == len(self.rules):
                break
        return [self._row(kind, split, number) for number, kind in enumerate(kinds)]

    @cached_property
    def test(self) -> list[Row]:
        """Items that nobody is shown."""
        return self.sample("test", _TEST)

    # What the reflector may know.

    @property
    def theme(self) -> Theme:
        """Words of the world."""
        return FRAMES[self.spec.theme]

    @property
    def variant(self) -> int:
        """The wording that a reflector keeps to if it does not reword."""
        return int(4 * draw(self.spec.name, "variant"))

    def another(self, code: str, *key: object) -> str:
        """A code of this world that is not the given one."""
        return pick(sorted({*self.rules.values()} - {code}), self.key, *key)

    def section_of(self, cue: str) -> str:
        """The section in which a rule on this thing counts."""
        return self._sections_by_cue[cue]

    @cached_property
    def _sections_by_cue(self) -> dict[str, str]:
        names = list(self.openings)
        return {cue: names[place % self.spec.sections] for place, cue in enumerate(self.rules)}

    def group_of(self, cue: str) -> int:
        """Which of the two groups a thing is in, for rules that act on each other."""
        return list(self.rules).index(cue) // self.spec.sections % 2

    @cached_property
    def openings(self) -> dict[str, str]:
        """How each section begins."""
        full = "Classify." if self.spec.short else self.theme.opening
        if self.spec.sections == 1:
            return {"system": full}
        return {desk: f"At the {desk} desk: {full}" for desk in DESKS[: self.spec.sections]}

    # How the task model behaves.

    def chances(self, sections: Sections) -> dict[str, float]:
        """The chance of a right code, for each thing."""
        key = "\x00".join(sections.get(name, "") for name in self.openings)
        if key not in self._chances:
            if len(self._chances) > 5_000:
                self._chances = {}
            left = self._attention(key)
            known = {name: self._known(sections, name) for name in self.openings}
            advice = {one for part in known.values() for one in part.advice}
            self._chances[key] = {
                cue: self._chance(cue, known[self.section_of(cue)], advice, left[cue])
                for cue in self.rules
            }
        return self._chances[key]

    def _known(self, sections: Sections, name: str) -> Knowledge:
        text = sections.get(name, "")
        if text not in self._readings:
            if len(self._readings) > 2_000:
                self._readings = {}
            self._readings[text] = read(text, self.spec.form)
        return self._readings[text]

    def _chance(self, cue: str, known: Knowledge, advice: set[str], attention: float) -> float:
        truth, guess = self.rules[cue], self._guess(cue)
        codes = known.facts.get(cue, [])
        unlocked = self.spec.interaction != "prerequisite" or "tally-mark" in advice
        chance = guess
        if codes and (unlocked or self.group_of(cue) == 0):
            stated = 0.0 if truth not in codes else 1.0 if len(codes) == 1 else _MIXED
            followed = self.spec.obedience * self._aided(cue, advice) * attention
            chance = followed * stated + (1 - followed) * guess
        else:
            codes = []
        if known.general:
            fits = _GENERAL * (truth == known.general[-1])
            chance = _OVERRULED * fits + (1 - _OVERRULED) * chance if codes else fits
        return chance

    def _aided(self, cue: str, advice: set[str]) -> float:
        """What advice leaves of a rule: each piece helps one group, and both together hurt all."""
        if self.spec.interaction != "clash":
            return 1.0
        given = advice & {"narrow-reading", "wide-reading"}
        if len(given) == 2:
            return _UNAIDED * _CLASHING
        mine = ("narrow-reading", "wide-reading")[self.group_of(cue)]
        return 1.0 if mine in given else _UNAIDED

    def _attention(self, text: str) -> dict[str, float]:
        """What length leaves of each rule: all fade word by word, or those far down are overlooked."""
        if self.spec.attention == "none":
            return dict.fromkeys(self.rules, 1.0)
        words = words_in(text)
        if self.spec.attention == "fade":
            left = max(_LEAST, 1 - _FADE * max(0, len(words) - self._room))
            return dict.fromkeys(self.rules, left)
        first = {word: place for place, word in reversed(list(enumerate(words)))}
        return {cue: _BEYOND if first.get(cue, 0) > self._room else 1.0 for cue in self.rules}

    @cached_property
    def _room(self) -> float:
        texts = self._solved(self._helpful_advice[0])
        return self.spec.room * len(words_in("\n".join(texts.values())))

    @cached_property
    def _helpful_advice(self) -> Sequence[list[str]]:
        return {
            "prerequisite": [["tally-mark"]],
            "clash": [["narrow-reading"], ["wide-reading"]],
        }.get(self.spec.interaction, [[]])

    def _guess(self, cue: str) -> float:
        if self.spec.score != "label":
            return _GUESS
        return _HABIT if self.rules[cue] == self._usual else _RARE

    @cached_property
    def _usual(self) -> str:
        """The label that is said without a rule: the commonest that leaves something to learn."""
        shares: dict[str, float] = {}
        for kind in self.kinds:
            label = self.rules[kind.topics[0]]
            shares[label] = shares.get(label, 0.0) + kind.share
        return max((share <= 0.5, share, label) for label, share in shares.items())[2]

    def _answer(self, sections: Sections, item: Mapping[str, Any]) -> str:
        ref = _read_item(str(item["message"]))[0]
        texts = "\x00".join(sections.get(name, "") for name in self.openings)
        luck = digest(self.key, texts, ref, self._repeat(ref, texts))
        chances = self.chances(sections)
        parts = [
            f"{cue}={self._said(sections, ref, cue, chances[cue], luck)}"
            for cue in self._cues_of(item)
        ]
        return f"{ref}/{luck[:6]}: " + "; ".join(parts)

    def _said(self, sections: Sections, ref: str, cue: str, chance: float, luck: str) -> str:
        truth, known = self.rules[cue], self._known(sections, self.section_of(cue))
        note = known.notes.get((ref, cue))
        if note and draw(luck, "note", cue) < self.spec.obedience:
            return note
        if draw(luck, cue) < chance:
            return truth
        usual = self._usual if self.spec.score == "label" else NOTHING
        wrong = [one for one in [*known.general, *known.facts.get(cue, []), usual] if one != truth]
        return wrong[0] if wrong else self.another(truth, luck, cue)

    def _repeat(self, *parts: str) -> int:
        key = digest(*parts)
        with self._lock:
            self._repeats[key] += 1
            return self._repeats[key]

    # How it is made.

    def _make_rules(self) -> dict[str, str]:
        name, spec = self.spec.name, self.spec
        cues = shuffled(self.theme.cues, name, "cues")[: spec.cues]
        kinds = spec.labels if spec.score == "label" else spec.cues // 2 + 1
        codes = shuffled(self.theme.codes, name, "codes")[:kinds]
        turn = shuffled(range(spec.cues), name, "turn")
        return {cue: codes[place % kinds] for cue, place in zip(cues, turn, strict=True)}

    def _make_kinds(self) -> tuple[Kind, ...]:
        """Kinds of items by the things in them; all things of a kind belong to one section."""
        weights = {cue: 1 / (1 + n) ** self.spec.skew for n, cue in enumerate(self.rules)}
        sizes = _SIZES[self.spec.score]
        drawn = []
        for cue in self.rules:
            mates = [one for one in self.rules if self.section_of(one) == self.section_of(cue)]
            for number, size in enumerate(sizes):
                others = [one for one in shuffled(mates, self.spec.name, cue, number) if one != cue]
                drawn.append(((cue, *others[: size - 1]), weights[cue] / len(sizes)))
        whole = sum(weights.values())
        return tuple(Kind(topics, weight / whole) for topics, weight in drawn)

    def _baseline(self) -> dict[str, str]:
        fillers = shuffled(FILLERS, self.spec.name, "fillers")
        crowded = self.spec.attention != "none" and not self.spec.short
        return {
            name: "\n".join([opening, *(fillers[:_FILLERS] if crowded else [])])
            for name, opening in self.openings.items()
        }

    def _solved(self, advice: list[str]) -> dict[str, str]:
        texts: dict[str, str] = {}
        for name, opening in self.openings.items():
            mine = [cue for cue in self.rules if self.section_of(cue) == name]
            facts = {cue: [self.rules[cue]] for cue in mine}
            known = Knowledge(facts=facts, advice=advice if not texts else [])
            texts[name] = write(opening, known, self.spec.form, self.variant)
        return texts

    def _row(self, kind: Kind, split: str, number: int) -> Row:
        first = {"train": 0, "validation": 1_000, "test": 2_000}.get(split, 3_000)
        start = int(90_000 * draw(self.spec.name, "refs"))
        ref = 10_000 + (start + 7_919 * (first + number)) % 90_000
        said = pick(self.theme.messages, self.spec.name, split, number)
        return {
            "id": f"{split}-{number:03d}",
            "message": f"[no. {ref}] " + said.format(" and ".join(kind.topics)),
            "expected": "; ".join(f"{cue}={self.rules[cue]}" for cue in kind.topics),
            "split": split,
        }

    def _cues_of(self, item: Mapping[str, Any]) -> list[str]:
        return [word for word in _read_item(str(item["message"]))[1] if word in self.rules]


@lru_cache(maxsize=4_096)
def _read_item(message: str) -> tuple[str, tuple[str, ...]]:
    """The number of an item and the words of its message: each is asked for often."""
    found = _REF.search(message)
    if found is None:
        raise ValueError(f"the message has no number: {message!r}")
    return found.group(1), tuple(words_in(message))


def world_class(spec: Spec) -> type[World]:
    """The class of a spec's worlds: one for each seed."""
    nature = Nature(train=spec.train, validation=spec.validation)
    own = {"name": spec.name, "about": spec.about, "spec": spec, "nature": nature}
    return type(spec.name, (Mixture,), own)
