"""A world of several sections."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from .draws import draw, shuffled
from .nature import Nature
from .reading import Reading, read
from .vocabulary import RULE_LINES
from .world import Sections, World

_STEPS = {
    "triage": (
        "You sort the questions of a ticket by what they concern.",
        "Nobody seems to have noticed what the question was.",
    ),
    "lookup": (
        "You find the entries in the handbook that a question needs.",
        "The handbook was not opened at the right page.",
    ),
    "draft": (
        "You write the steps of the reply for the customer.",
        "What was found never made it into the reply.",
    ),
    "review": (
        "You check the finished reply before it is sent.",
        "A second look would have caught it.",
    ),
}


class Components(World):
    """Three or four sections; a rule works only in its own, and complaints hint at it only."""

    name: ClassVar[str] = "components"
    about: ClassVar[str] = "several sections: each rule works in one of them only"
    nature: ClassVar[Nature] = Nature(fewest_rules=10, most_rules=13)

    def heard(self, sections: Sections, topic: str) -> Reading:
        """The section that the topic belongs to."""
        return read(sections.get(self.home(topic), ""))

    def home(self, topic: str) -> str:
        """The section in which a rule on this topic works."""
        return self._homes[topic]

    def complaint(self, ref: str, topic: str, expected: str, said: str) -> str:
        """What was wrong, and a hint of where."""
        return f"{super().complaint(ref, topic, expected, said)} {_STEPS[self.home(topic)][1]}"

    def solution(self) -> dict[str, str]:
        """Each rule in its section."""
        return {
            name: "\n".join(
                [text]
                + [
                    RULE_LINES[0].format(topic=topic, action=action)
                    for topic, action in self.rules.items()
                    if self.home(topic) == name
                ]
            )
            for name, text in self.sections.items()
        }

    @cached_property
    def _homes(self) -> dict[str, str]:
        names = list(self.sections)
        topics = shuffled(list(self.rules), self.key, "homes")
        return {topic: names[number % len(names)] for number, topic in enumerate(topics)}

    def _baseline(self) -> dict[str, str]:
        count = 3 + int(2 * draw(self.key, "sections"))
        return {name: opening for name, (opening, _) in list(_STEPS.items())[:count]}
