"""A world in which long prompts lose attention."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from .draws import shuffled
from .nature import Habits
from .reading import length_of
from .vocabulary import RULE_LINES, USELESS_LINES
from .world import Sections, World

_IDLE_LINES = 6
_SPARE_WORDS = 9
_LOSS_A_WORD = 0.05 / 9
_LEAST = 0.25


class Attention(World):
    """Every word beyond the limit costs all rules some of their effect, a line about 5%.

    The limit has room for every rule and one line more. The baseline already holds lines that do
    nothing, and the reflection model likes to add others, so some have to go.
    """

    name: ClassVar[str] = "attention"
    about: ClassVar[str] = "a prompt beyond a limit of length loses attention, line by line"
    habits: ClassVar[Habits] = Habits(useless=0.40, vague=0.20, condense=0.30)

    def chance(self, sections: Sections, topic: str) -> tuple[str, float]:
        """Rules work less the longer the prompt is; a guess stays a guess."""
        state, chance = super().chance(sections, topic)
        floor = self.nature.guessed
        if chance <= floor:
            return state, chance
        return state, floor + (chance - floor) * self._attention(sections)

    def solution(self) -> dict[str, str]:
        """The rules and the opening, without the lines that do nothing."""
        return {"system": "\n".join([*self._opening(), *self._rule_lines()])}

    @cached_property
    def _limit(self) -> int:
        return length_of(self.solution()["system"]) + _SPARE_WORDS

    def _attention(self, sections: Sections) -> float:
        surplus = self.whole(sections).length - self._limit
        return max(_LEAST, 1.0 - _LOSS_A_WORD * max(0, surplus))

    def _rule_lines(self) -> list[str]:
        return [
            "- " + RULE_LINES[0].format(topic=topic, action=action)
            for topic, action in self.rules.items()
        ]

    def _opening(self) -> list[str]:
        return super()._baseline()["system"].splitlines()

    def _baseline(self) -> dict[str, str]:
        idle = shuffled(USELESS_LINES, self.key, "idle")[:_IDLE_LINES]
        return {"system": "\n".join([*self._opening(), *(f"- {line}" for line in idle)])}
