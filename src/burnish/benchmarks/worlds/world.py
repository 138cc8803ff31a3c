"""A world: items, a simulated task model, a scorer and a simulated reflection model, all counted.

Everything random is hashed from the seed and the content that matters, never from the order of calls,
so any optimizer may call from any number of threads and meets the same world.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from .draws import draw, pick, shuffled
from .nature import Habits, Nature
from .reading import REF, Reading, read, words_of
from .reflector import Reflector
from .vocabulary import (
    ACTIONS,
    DAYS,
    DEFAULT_ANSWER,
    ENDINGS,
    HARMFUL_LINES,
    JOINS,
    OPENINGS,
    RULE_LINES,
    TOPICS,
)

Row = dict[str, Any]

_ATTEMPTS = 1_000
_SPLIT_REFS = 20_000
_FIRST_REF = {"train": 0, "validation": _SPLIT_REFS}
Sections = Mapping[str, str]
Grasp = dict[str, tuple[str, float]]
_QUOTED = 0.98
_HARMFUL = frozenset(HARMFUL_LINES)
_MOST_GRASPED = 5_000


@dataclass(frozen=True)
class Kind:
    """Tickets on the same topics, and their share of all tickets."""

    topics: tuple[str, ...]
    share: float


def make_kinds(topics: Sequence[str], *, pairs: float, seed: object) -> tuple[Kind, ...]:
    """Single topics of unequal shares, and a share `pairs` of tickets with two topics."""
    weights = [1.0 + 1.5 * draw(seed, "share", topic) for topic in topics]
    whole = sum(weights)
    singles = [
        Kind((topic,), (1 - pairs) * weight / whole)
        for topic, weight in zip(topics, weights, strict=True)
    ]
    ring = shuffled(topics, seed, "pairs")
    both = [
        Kind((first, second), pairs / len(ring))
        for first, second in zip(ring, [*ring[1:], ring[0]], strict=True)
    ]
    return (*singles, *both)


def make_rows(
    kinds: Sequence[Kind], rules: Mapping[str, str], *, split: str, count: int, seed: object
) -> list[Row]:
    """Independent draws of tickets; drawn again until every topic occurs, if there is room."""
    wanted = set(rules) if count >= 3 * len(rules) else set()
    for attempt in range(_ATTEMPTS):
        drawn = [kind_at(kinds, draw(seed, split, attempt, n)) for n in range(count)]
        if wanted <= {topic for kind in drawn for topic in kind.topics}:
            break
    return [
        _row(kind, rules, split=split, number=n, ref=_ref(split, n, seed), seed=seed)
        for n, kind in enumerate(drawn)
    ]


def topics_of(row: Mapping[str, Any], rules: Mapping[str, str]) -> list[str]:
    """The topics that a ticket touches, in the order of its text."""
    return [word for word in dict.fromkeys(words_of(str(row["message"]))) if word in rules]


def ref_of(row: Mapping[str, Any]) -> str:
    """The ticket's own number."""
    found = REF.search(str(row["message"]))
    if found is None:
        raise ValueError(f"the message names no ticket: {row['message']!r}")
    return found.group()


def _ref(split: str, number: int, seed: object) -> str:
    """A ticket's number: no two of a world are alike, because the step and the range are coprime."""
    first = _FIRST_REF.get(split, 2 * _SPLIT_REFS)
    return f"T-{10_000 + (int(90_000 * draw(seed, 'refs')) + 7_919 * (first + number)) % 90_000}"


def kind_at(kinds: Sequence[Kind], place: float) -> Kind:
    """The kind at a place from 0 to 1, by shares."""
    for kind in kinds:
        place -= kind.share
        if place < 0:
            return kind
    return kinds[-1]


def _row(
    kind: Kind, rules: Mapping[str, str], *, split: str, number: int, ref: str, seed: object
) -> Row:
    key = (seed, split, number)
    text = pick(OPENINGS, *key, "opening").format(kind.topics[0])
    for topic in kind.topics[1:]:
        text += pick(JOINS, *key, "join", topic).format(topic)
    text += pick(ENDINGS, *key, "ending").format(day=pick(DAYS, *key, "day"), number=ref[-2:])
    return {
        "id": f"{split}-{number:03d}",
        "message": f"[{ref}] {text}",
        "expected": f"{ref}: " + ", ".join(rules[topic] for topic in kind.topics),
        "split": split,
    }


class World:
    """One task with hidden rules. Subclasses change its nature, its habits or a method.

    `sections` is the baseline; `train` and `validation` are plain rows with `id`, `message`,
    `expected` and `split`. `expectation(sections)` is the exact mean score over all tickets that could
    come, `start` that of the baseline and `maximum` the best that can be reached. `calls` and
    `reflections` count what was asked of the two models. Methods may be called from any thread.
    """

    name: ClassVar[str] = "rules"
    about: ClassVar[str] = "hidden rules to be discovered one by one"
    nature: ClassVar[Nature] = Nature()
    habits: ClassVar[Habits] = Habits()

    def __init__(self, seed: int, *, latency_seconds: float = 0.0) -> None:
        self.seed = seed
        self.latency_seconds = latency_seconds
        self.key = f"{self.name}:{seed}"
        self.rules = self._make_rules()
        self.kinds = self._make_kinds()
        self.sections: dict[str, str] = self._baseline()
        self.train = self.sample("train", self.nature.train)
        self.validation = self.sample("validation", self.nature.validation)
        self.calls = 0
        self.reflections = 0
        self._lock = threading.Lock()
        self._tried: dict[tuple[tuple[str, str], ...], None] = {}
        self._grasped: dict[tuple[tuple[str, str], ...], Grasp] = {}

    # What an optimizer may use.

    def answer(self, sections: Sections, item: Mapping[str, Any]) -> str:
        """The simulated task model: one counted call."""
        self._count_call(sections)
        self._wait()
        return self._answer(sections, item)

    async def answer_async(self, sections: Sections, item: Mapping[str, Any]) -> str:
        """`answer` that waits without a thread."""
        self._count_call(sections)
        if self.latency_seconds:
            await asyncio.sleep(self.latency_seconds)
        return self._answer(sections, item)

    def score(self, output: str, item: Mapping[str, Any]) -> tuple[float, str]:
        """How good an output is, from 0 to 1, and in words what was wrong."""
        ref, topics = ref_of(item), topics_of(item, self.rules)
        said = [part.strip() for part in output.partition(":")[2].split(",")]
        said += [""] * (len(topics) - len(said))
        expected = [part.strip() for part in str(item["expected"]).partition(":")[2].split(",")]
        rows = list(zip(topics, expected, said, strict=False))
        wrong = [self.complaint(ref, *row) for row in rows if row[1] != row[2]]
        if not wrong:
            return 1.0, f"{ref} is right."
        share = 0.0 if self.nature.binary else 1.0 - len(wrong) / len(rows)
        return share, " ".join(
            [*wrong, *(["The rest is right."] if len(wrong) < len(rows) else [])]
        )

    def reflect(self, prompt: str) -> str:
        """The simulated reflection model: any prompt in, an answer with a text in a ``` fence out."""
        with self._lock:
            self.reflections += 1
        self._wait()
        return Reflector(self, self.habits).answer(prompt)

    # What measures it.

    def expectation(self, sections: Sections) -> float:
        """The exact mean score over the distribution of tickets; costs no call."""
        chances = {topic: chance for topic, (_, chance) in self._grasp(sections).items()}
        return sum(kind.share * self._expected(chances, kind) for kind in self.kinds)

    @property
    def start(self) -> float:
        """The expectation of the baseline."""
        return self.expectation(self.sections)

    @property
    def maximum(self) -> float:
        """The best expectation that can be reached."""
        return self.expectation(self.solution())

    @property
    def best_tried(self) -> float:
        """The best expectation of all that was tried on an item, chosen in the end or not."""
        return max((self.expectation(dict(one)) for one in self._tried), default=self.start)

    def solution(self) -> dict[str, str]:
        """A configuration that reaches the maximum."""
        lines = [RULE_LINES[0].format(topic=t, action=a) for t, a in self.rules.items()]
        return {
            name: "\n".join([text, *(f"- {line}" for line in lines)])
            for name, text in self.sections.items()
        }

    def sample(self, split: str, count: int) -> list[Row]:
        """Tickets drawn from the world's distribution."""
        return make_rows(self.kinds, self.rules, split=split, count=count, seed=self.key)

    # What worlds differ in.

    def chance(self, sections: Sections, topic: str) -> tuple[str, float]:
        """How the prompt stands to a topic, and the chance that its part of an answer is right."""
        said = self.heard(sections, topic).directives.get(topic, frozenset())
        right = self.rules[topic] in said
        nature = self.nature
        if not said:
            state, chance = "silent", nature.guessed
        elif right and len(said) == 1:
            state, chance = "known", nature.known
        elif right:
            state, chance = "confused", nature.confused
        else:
            state, chance = "misled", nature.misled
        return state, chance * self.harm(sections)

    def harm(self, sections: Sections) -> float:
        """What the harmful lines of a prompt leave of every chance."""
        return self.nature.harm ** len(_HARMFUL & self.whole(sections).words)

    def heard(self, sections: Sections, topic: str) -> Reading:
        """The part of the prompt in which a rule on this topic has an effect."""
        return self.whole(sections)

    def whole(self, sections: Sections) -> Reading:
        """All sections as one text."""
        return read("\n".join(sections.values()))

    def complaint(self, ref: str, topic: str, expected: str, said: str) -> str:
        """What the scorer says of a wrong part."""
        return (
            f"In {ref} the part about the {topic} should have said {expected}, "
            f"not {said or 'nothing'}."
        )

    def home(self, topic: str) -> str | None:
        """The section in which a rule on this topic works; None when any will do."""
        return None

    def special_lines(self, topic: str, key: str) -> list[str] | None:
        """Lines that the reflection model writes on a topic instead of a plain rule."""
        return None

    def extra_lines(self, current: str, key: str) -> list[str]:
        """Lines that the reflection model adds to a text, whatever is complained of."""
        return []

    def _make_rules(self) -> dict[str, str]:
        nature = self.nature
        spread = nature.most_rules - nature.fewest_rules + 1
        count = nature.fewest_rules + int(spread * draw(self.key, "count"))
        topics = shuffled(TOPICS, self.key, "topics")[:count]
        actions = shuffled(ACTIONS, self.key, "actions")[:count]
        return dict(zip(topics, actions, strict=True))

    def _make_kinds(self) -> tuple[Kind, ...]:
        return make_kinds(list(self.rules), pairs=self.nature.pairs, seed=self.key)

    def _baseline(self) -> dict[str, str]:
        return {
            "system": "You answer the tickets of a support desk.\n"
            "Reply with the number of the ticket, a colon, and one step for each question in it."
        }

    def _grasp(self, sections: Sections) -> Grasp:
        """`chance` for every topic, remembered for prompts that are asked often."""
        key = tuple(sections.items())
        known = self._grasped.get(key)
        if known is None:
            known = {topic: self.chance(sections, topic) for topic in self.rules}
            if len(self._grasped) >= _MOST_GRASPED:
                self._grasped = {}
            self._grasped[key] = known
        return known

    def _expected(self, chances: Mapping[str, float], kind: Kind) -> float:
        parts = [chances[topic] for topic in kind.topics]
        return prod(parts) if self.nature.binary else sum(parts) / len(parts)

    def _answer(self, sections: Sections, item: Mapping[str, Any]) -> str:
        ref, whole = ref_of(item), self.whole(sections)
        parts = [self._part(sections, whole, ref, topic) for topic in topics_of(item, self.rules)]
        return f"{ref}: " + ", ".join(parts)

    def _part(self, sections: Sections, whole: Reading, ref: str, topic: str) -> str:
        right = self.rules[topic]
        state, chance = self._grasp(sections)[topic]
        quoted = whole.quoted.get(ref, frozenset())
        if right in quoted:
            state, chance = "quoted", _QUOTED
        jittery = draw(self.key, "jitter", ref, topic) < self.nature.jitter
        relevant = (self.key, ref, topic, state, f"{chance:.6f}", whole.content if jittery else "")
        if draw("answer", *relevant) < chance:
            return right
        said = self.heard(sections, topic).directives.get(topic, frozenset())
        return pick(sorted(said - {right}) or [DEFAULT_ANSWER], "wrong", *relevant)

    def _wait(self) -> None:
        if self.latency_seconds:
            time.sleep(self.latency_seconds)

    def _count_call(self, sections: Sections) -> None:
        with self._lock:
            self.calls += 1
            self._tried[tuple(sections.items())] = None
