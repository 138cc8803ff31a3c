"""Reflector of a mixture world: reads any optimizer's prompt and answers as a language model would."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..draws import draw, pick, shuffled
from .forms import Knowledge, read, words_in, write
from .spec import CUES, FILLERS

if TYPE_CHECKING:
    from .world import Mixture

_COMPLAINT = re.compile(
    r"Item (\d{5}): for the ([a-z]+) the right code was ([a-z]+-[a-z]+), not ([a-z]+-[a-z]+)"
)
_ITEM = re.compile(r"\[no\. \d{5}\]|\b\d{5}/[0-9a-f]{6}: |Item \d{5}\b")
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})(\S*)\s*$")
_FENCED = re.compile(r"^\s*(?:```|~~~)\S*\s*\n", re.MULTILINE)
_TAGGED = re.compile(r"<([A-Za-z][\w-]*)[^<>]*>(.*?)</\1>", re.DOTALL)
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_MOST_LESSONS = 6
_GENERALISES, _RETRACTS, _ADVISES, _SWAPS = 0.35, 0.5, 0.4, 0.5
_PADS, _TIDIES = 0.3, 0.3


@dataclass(frozen=True)
class Complaint:
    """What the feedback says of one thing in one item."""

    ref: str
    cue: str
    code: str
    said: str


def find_complaints(prompt: str) -> list[Complaint]:
    """All complaints in a prompt, each once."""
    return list(dict.fromkeys(Complaint(*match) for match in _COMPLAINT.findall(prompt)))


def find_current(prompt: str, openings: Mapping[str, str]) -> tuple[str | None, str]:
    """The section that a prompt shows first, if it can be told, and its text.

    The text is known by its opening, within a fence, a tag or quotes, or bare up to the next item. If
    the opening is lost, it is the first part between items that has a fence or names a thing.
    """
    firsts = {name: opening.split("\n")[0] for name, opening in openings.items()}
    for text in _blocks(prompt):
        for name, first in firsts.items():
            if first in text and not _ITEM.search(text):
                return name, text
    parts = re.split(r"\n.*(?:" + _ITEM.pattern + r").*(?=\n|$)", prompt)
    for part in parts:
        for name, first in firsts.items():
            if f"\n{first}" in f"\n{part}":
                return name, part[f"\n{part}".index(f"\n{first}") :]
    telling = (part for part in parts if _FENCED.search(part) or {*words_in(part)} & {*CUES})
    return None, next(telling, "")


def _blocks(prompt: str) -> Iterator[str]:
    """Texts that a prompt sets apart, outermost first."""
    yield from _fenced(prompt.split("\n"))
    yield from (match.group(2).strip("\n") for match in _TAGGED.finditer(prompt))
    for match in _STRING.finditer(prompt):
        if "\\n" in match.group(1):
            try:
                yield str(json.loads(match.group()))
            except ValueError:
                continue


def _fenced(lines: list[str]) -> Iterator[str]:
    """Fenced texts; a fence with a word after it opens, a bare one closes what is open."""
    opened: list[tuple[str, int]] = []
    for place, line in enumerate(lines):
        fence = _FENCE.match(line)
        if fence is None:
            continue
        mark, word = fence.groups()
        if not word and opened and mark.startswith(opened[-1][0]):
            _, start = opened.pop()
            if not opened:
                yield "\n".join(lines[start + 1 : place])
        else:
            opened.append((mark, place))


class Reflector:
    """One answer to one prompt; `repeat` says how often the same was asked before."""

    def __init__(self, world: Mixture, prompt: str, repeat: int) -> None:
        self._world, self._habits = world, world.spec.habits
        self._key = (world.key, "reflector", prompt, repeat)
        self._complaints = shuffled(find_complaints(prompt), *self._key, "complaints")
        section, text = find_current(prompt, world.openings)
        self._known = read(text, world.spec.form)
        self._section = section or self._guessed_section()

    def answer(self) -> str:
        """What comes back: mostly a new text, wrapped in some way."""
        self._forget()
        self._learn()
        self._pad()
        text = self._written()
        if self._chance("refuse") < self._habits.refuse:
            return self._unusable(text)
        return self._wrapped(text) if self._habits.chatty else f"```\n{text}\n```"

    def _chance(self, *what: object) -> float:
        return draw(*self._key, *what)

    def _guessed_section(self) -> str:
        cues = [cue for cue in self._known.facts if cue in self._world.rules]
        cues += [one.cue for one in self._complaints]
        homes = [self._world.section_of(cue) for cue in cues]
        return max(homes or self._world.openings, key=homes.count)

    def _forget(self) -> None:
        facts, notes = self._known.facts, self._known.notes
        lost = self._habits.forget
        self._known.facts = {
            cue: facts[cue] for cue in facts if self._chance("forget", cue) >= lost
        }
        self._known.notes = {at: notes[at] for at in notes if self._chance("forget", at) >= lost}

    def _learn(self) -> None:
        mine = [one for one in self._complaints if self._world.section_of(one.cue) == self._section]
        lessons = {one.cue: one for one in mine}
        most = 1 if self._habits.partial else _MOST_LESSONS
        for lesson in list(lessons.values())[:most]:
            self._take(lesson)

    def _take(self, lesson: Complaint) -> None:
        """One thing that went wrong becomes a rule, a note, advice, or the end of a line."""
        known, interaction = self._known, self._world.spec.interaction
        cue, code = lesson.cue, lesson.code
        if lesson.said in known.general and self._chance("retract", cue) < _RETRACTS:
            known.general = [one for one in known.general if one != lesson.said]
        if interaction == "prerequisite" and self._world.group_of(cue) == 1:
            self._advise("tally-mark", cue)
        if known.facts.get(cue) == [code]:
            if interaction == "clash":
                self._take_side(cue)
        elif self._chance("memorise", cue) < self._habits.memorise:
            known.notes[lesson.ref, cue] = code
        elif (
            interaction == "overreach"
            and not known.general
            and self._chance("all", cue) < _GENERALISES
        ):
            known.general = [code]
        elif self._chance("wrong", cue) < self._habits.wrong:
            known.facts[cue] = [self._world.another(code, *self._key, cue)]
        else:
            known.facts[cue] = [code]

    def _advise(self, marker: str, cue: str) -> bool:
        if marker in self._known.advice or self._chance("advise", marker, cue) >= _ADVISES:
            return False
        self._known.advice.append(marker)
        return True

    def _take_side(self, cue: str) -> None:
        """Of two pieces of advice the one for this thing comes in, and the other may go."""
        sides = ("narrow-reading", "wide-reading")
        group = self._world.group_of(cue)
        other = sides[1 - group]
        both = set(sides) <= set(self._known.advice)
        if (self._advise(sides[group], cue) or both) and self._chance("swap", cue) < _SWAPS:
            self._known.advice = [one for one in self._known.advice if one != other]

    def _pad(self) -> None:
        """Where length costs something, fillers come and go."""
        if self._world.spec.attention == "none":
            return
        kept = [one for one in self._known.fillers if self._chance("tidy", one) >= _TIDIES]
        if self._chance("pad") < _PADS:
            kept.append(pick(FILLERS, *self._key, "filler"))
        self._known.fillers = list(dict.fromkeys(kept))

    def _written(self) -> str:
        variant, known = self._world.variant, self._known
        if self._habits.reword:
            variant = int(4 * self._chance("variant"))
            order = shuffled(list(known.facts), *self._key, "order")
            known = Knowledge(**{**vars(known), "facts": {cue: known.facts[cue] for cue in order}})
        opening = self._world.openings[self._section]
        return write(opening, known, self._world.spec.form, variant)

    def _unusable(self, text: str) -> str:
        return pick(
            (
                "I'm sorry, but I can't help with that.",
                "Before I write anything: could you tell me who will read the answers?",
                json.dumps({"new_prompt": text}),
                f"```\n{text[: len(text) // 2]}",
                "",
            ),
            *(*self._key, "kind of refusal"),
        )

    def _wrapped(self, text: str) -> str:
        lesson = next((f"{one.cue}: {one.said}" for one in self._complaints), "nothing")
        return pick(
            (
                f"```\n{text}\n```",
                f"Sure! Here is the improved version:\n\n```\n{text}\n```\n\nI added what was missing.",
                f"```markdown\n{text}\n```\n\nHope this helps!",
                f"Sure! Here is the new prompt:\n\n{text}\n\nLet me know if it should be shorter.",
                f"~~~\n{text}\n~~~",
                f"Good question.\n\n<prompt>\n{text}\n</prompt>",
                f"What went wrong:\n```\n{lesson}\n```\n\nThe new prompt:\n```\n{text}\n```",
                f"Certainly. The prompt was silent on this ({lesson}).\n\n````text\n{text}\n````",
            ),
            *(*self._key, "wrapping"),
        )
