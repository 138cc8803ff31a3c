"""A world in which greedy search ends in the wrong place."""

from __future__ import annotations

from typing import ClassVar

from .draws import draw
from .nature import Habits, Nature
from .vocabulary import RULE_LINES
from .world import Sections, World

_LURE = "quick-replies"
_LURE_LINE = "Answer from the list of quick-replies wherever one comes close."
_LURED_GUESS, _LURED_RULE = 0.42, 0.55
_LURE_OFFERED = 0.45
_PAIR = ("double-register", "mirror-order")
_PAIR_LINES = (
    "Look every step up in the double-register first.",
    "Read the entries of a register in mirror-order.",
)
_PAIR_ALONE = 0.80
_BOTH_AT_ONCE = 0.20
_PAIR_TOPICS = 2


class Deceptive(World):
    """An attractive line blocks better ones, and two lines hurt alone and help together.

    The lure lifts every guess at once, and holds down the effect of the rules. The last two topics are
    answered rightly only with both lines of the pair, of which one alone confuses all answers.
    """

    name: ClassVar[str] = "deceptive"
    about: ClassVar[str] = "an early lure blocks better rules; two lines help only together"
    nature: ClassVar[Nature] = Nature(fewest_rules=9, most_rules=12)
    habits: ClassVar[Habits] = Habits(condense=0.15)

    def chance(self, sections: Sections, topic: str) -> tuple[str, float]:
        """What the lure and the pair make of a topic."""
        state, chance = self._with_pair(sections, topic)
        whole = self.whole(sections)
        if whole.has(_LURE):
            if state == "known":
                chance *= _LURED_RULE / self.nature.known
            elif state == "silent":
                chance *= _LURED_GUESS / self.nature.guessed
            state += "+lure"
        if whole.has(_PAIR[0]) != whole.has(_PAIR[1]):
            state, chance = state + "+half", chance * _PAIR_ALONE
        return state, chance

    def solution(self) -> dict[str, str]:
        """All plain rules and both lines of the pair, without the lure."""
        plain = [topic for topic in self.rules if topic not in self._pair_topics()]
        lines = [RULE_LINES[0].format(topic=topic, action=self.rules[topic]) for topic in plain]
        return {"system": "\n".join([self.sections["system"], *lines, *_PAIR_LINES])}

    def special_lines(self, topic: str, key: str) -> list[str] | None:
        """One line of the pair, now and then both."""
        if topic not in self._pair_topics():
            return None
        place = draw(key, "pair", topic)
        if place < _BOTH_AT_ONCE:
            return list(_PAIR_LINES)
        return [_PAIR_LINES[place < (1 + _BOTH_AT_ONCE) / 2]]

    def extra_lines(self, current: str, key: str) -> list[str]:
        """The lure, often, while it is not there."""
        offered = _LURE not in current and draw(key, "lure") < _LURE_OFFERED
        return [_LURE_LINE] if offered else []

    def _with_pair(self, sections: Sections, topic: str) -> tuple[str, float]:
        if topic not in self._pair_topics():
            return super().chance(sections, topic)
        whole = self.whole(sections)
        if all(whole.has(word) for word in _PAIR):
            return "known", self.nature.known * self.harm(sections)
        return "silent", self.nature.guessed * self.harm(sections)

    def _pair_topics(self) -> tuple[str, ...]:
        return tuple(self.rules)[-_PAIR_TOPICS:]
