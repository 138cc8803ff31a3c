"""Ideas of the meta-model: asked for, taken apart, and rid of what must not get into a prompt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from burnish.domain import Configuration, Item, ItemResult, Outcome, TrialHistory
from burnish.optimizers.gepa.edit_history import EditHistory
from burnish.optimizers.gepa.line_edits import LineEdit, kept_share, split_edits
from burnish.optimizers.gepa.moves import edited
from burnish.optimizers.shared.acceptance import is_acceptable, is_short_enough
from burnish.optimizers.shared.asking import Asker
from burnish.optimizers.shared.copied_answers import copied_items
from burnish.optimizers.shared.evidence import Evidence, Known
from burnish.optimizers.shared.facts import RunFacts
from burnish.optimizers.shared.failure_matching import FailureMatcher, words_of
from burnish.optimizers.shared.reflection import Question, Shown, feedback_of, read_answer
from burnish.optimizers.shared.seeded_random import generator

_MOST_REASONS = 5
_LONGEST = 300
# Two complaints are one when they share so much of the words of the shorter one.
_ALIKE = 0.6
_RECURS = 2
_RESOLVED = (Outcome.FIXED, Outcome.IMPROVED)
# A rewrite that keeps less of its parent's lines is judged as a whole.
_KEPT = 0.5
_MOST_LINES = 6
_SAME_WORDS = 0.5
_MOST_CALLS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Idea:
    """A line to try, or a whole text, with the failures that it should mend."""

    failures: tuple[str, ...]
    said: str = ""
    vague: bool = False
    edit: LineEdit | None = None
    whole: Configuration | None = None


@dataclass(frozen=True, kw_only=True)
class Ideas:
    """Asks one meta-model on behalf of one step."""

    asker: Asker
    facts: RunFacts
    evidence: Evidence
    edit_history: EditHistory
    history: TrialHistory
    sections: tuple[str, ...]
    pool: tuple[str, ...]
    group: int
    generation: int
    max_prompt_tokens: int | None = None
    copied: list[str] = field(default_factory=list)

    async def of(
        self,
        parent: Known,
        failures: Sequence[str],
        passed: Sequence[str],
        *,
        places: int,
        whole: bool = False,
        kept: Sequence[LineEdit] = (),
    ) -> list[Idea]:
        """Ideas for a parent. Answers of no use are left out; there may be none.

        `kept` are lines that did well on it: the model sees its text with them.
        """
        groups = [
            failures[start : start + self.group] for start in range(0, len(failures), self.group)
        ][: min(max(places // 2, 1), _MOST_CALLS)]
        shown = await self._shown(parent, [item for group in groups for item in group])
        beside = await self._shown(parent, passed)
        texts = edited(parent.candidate.configuration, kept).sections
        refined = recurring_reasons(
            parent.results[item] for item in self.pool if item in parent.results
        )
        questions = [
            replace(
                self._question(
                    texts, [shown[item] for item in group], [*beside.values()], place, whole
                ),
                refined=refined,
            )
            for place, group in enumerate(groups)
        ]
        answers = await self.asker.ask_all([question.prompt() for question in questions])
        matcher = FailureMatcher([*shown.values()])
        items = await self.history.load_items(list(self.pool))
        lines: dict[object, Idea] = {}
        rewrites: dict[str, Idea] = {}
        for question, group, answer in zip(questions, groups, answers, strict=True):
            for idea in self._read(parent, question, group, answer, matcher, items, whole):
                if idea.edit is not None:
                    # Two wordings of one rule about one failure are one idea.
                    about = matcher.match(idea.edit.new, question.text, group).words
                    key = (
                        (idea.edit.section, about) if about and not idea.edit.old else idea.edit.key
                    )
                    lines[key] = _merged(lines.get(key), idea)
                elif idea.whole is not None:
                    rewrites.setdefault(idea.whole.hash, idea)
        return [*foremost([*lines.values()], matcher), *rewrites.values()]

    async def distinct(
        self, parent: Known, edits: Sequence[LineEdit], failures: Sequence[str]
    ) -> list[LineEdit]:
        """Without lines that say the same about the same failures in other words."""
        matcher = FailureMatcher([*(await self._shown(parent, failures)).values()])
        known = "\n".join(parent.candidate.configuration.sections.values())
        kept: list[LineEdit] = []
        told: dict[str, list[frozenset[str]]] = {}
        for edit in edits:
            words = matcher.match(edit.new, known, failures).words if not edit.old else frozenset()
            before = told.setdefault(edit.section, [])
            if not words or not any(words <= one for one in before):
                kept.append(edit)
                before.append(words)
        return kept

    async def mended(
        self, parent: Known, edits: Sequence[LineEdit], failures: Sequence[str]
    ) -> set[str]:
        """Failures that these lines, which mended some, are about in the same words."""
        matcher = FailureMatcher([*(await self._shown(parent, failures)).values()])
        known = "\n".join(parent.candidate.configuration.sections.values())
        told = [matcher.match(edit.new, known, failures).words for edit in edits]
        return {
            item for item in failures if matcher.tells(item, [words for words in told if words])
        }

    async def told(
        self, parent: Known, edits: Sequence[LineEdit], failures: Sequence[str]
    ) -> dict[str, set[tuple[str, str, str]]]:
        """Failures that some of these lines are about, and which ones."""
        matcher = FailureMatcher([*(await self._shown(parent, failures)).values()])
        found: dict[str, set[tuple[str, str, str]]] = {}
        for edit in edits:
            words = matcher.match(edit.new, "", failures).words
            for item in failures if words else ():
                if matcher.tells(item, [words]):
                    found.setdefault(item, set()).add(edit.key)
        return found

    @property
    def left_out(self) -> str:
        """What the guard against learning by heart did in this step, as a sentence."""
        count = len(set(self.copied))
        if not count:
            return ""
        return f"Lines that quote training items ({count} of them) were left out."

    def allows(self, configuration: Configuration) -> bool:
        """Whether the framework and the prompt-length budget take it."""
        return is_acceptable(
            configuration, baseline=self.facts.baseline, space=self.facts.space
        ) and is_short_enough(configuration, self.max_prompt_tokens)

    async def _shown(self, parent: Known, item_ids: Sequence[str]) -> dict[str, Shown]:
        known = [
            (item, result)
            for item in item_ids
            if (result := self.evidence.last_result(parent.candidate.id, item)) is not None
        ]
        items = await self.history.load_items([item for item, _ in known])
        return {
            item: Shown(item=row, result=result)
            for (item, result), row in zip(known, items, strict=True)
        }

    def _question(
        self,
        texts: Mapping[str, str],
        failed: Sequence[Shown],
        passed: Sequence[Shown],
        place: int,
        whole: bool,
    ) -> Question:
        section = self._section(texts, failed, place)
        helped, useless = self.edit_history.hints(section, texts[section])
        return Question(
            section=section,
            text=texts[section],
            failed=tuple(failed),
            passed=tuple(passed),
            others={path: text for path, text in texts.items() if path != section},
            helped=helped,
            useless=useless,
            max_tokens=self.max_prompt_tokens,
            rewrite=whole and bool((self.generation + place) % 2),
        )

    def _section(self, texts: Mapping[str, str], failed: Sequence[Shown], place: int) -> str:
        """The section to work on: in turn, and rather the one that the feedback is about."""
        if len(self.sections) == 1:
            return self.sections[0]
        chance = generator(self.facts.seed, "section", self.generation, place)
        said = words_of(" ".join(feedback_of(one.result) for one in failed))
        weights = []
        for path in self.sections:
            near = len(words_of(path) & said) + 0.2 * len(words_of(texts[path]) & said)
            won, lost = self.edit_history.wins_and_losses(path)
            weights.append((0.5 + near) * (1 + won) / (2 + won + lost))
        return chance.choices(self.sections, weights)[0]

    def _read(
        self,
        parent: Known,
        question: Question,
        group: Sequence[str],
        answer: str,
        matcher: FailureMatcher,
        items: Sequence[Item],
        whole: bool,
    ) -> list[Idea]:
        read = read_answer(answer, question.text)
        if read is None:
            return []
        text, said = read
        configuration = parent.candidate.configuration
        edits = split_edits(question.section, question.text, text)
        kept = self._without_quotes(edits, configuration, items)
        if whole or kept_share(question.text, text) < _KEPT:
            if len(kept) < len(edits):
                return []
            rewritten = configuration.with_sections({question.section: text})
            return [Idea(failures=tuple(group), said=said, whole=rewritten)]
        first = parent is self.evidence.baseline
        return self._lines(kept, question.text, group, said, matcher, first=first)

    def _lines(
        self,
        edits: Sequence[LineEdit],
        text: str,
        group: Sequence[str],
        said: str,
        matcher: FailureMatcher,
        *,
        first: bool,
    ) -> list[Idea]:
        """Edits worth a gate: what adds something about a failure, else what adds something at all.

        Rewordings are tried on the baseline only, and when nothing else came: later they are mostly
        noise. Of what drops or replaces a line that is about a failure, one is tried. What the text
        says already is not tried again.
        """
        about: list[Idea] = []
        vague: list[Idea] = []
        other: list[Idea] = []
        rewordings: list[Idea] = []
        for edit in edits:
            if self.edit_history.is_rejected(edit):
                continue
            match = matcher.match(edit.new or edit.old, text, group)
            idea = Idea(
                failures=match.items or tuple(group),
                said=said,
                edit=edit,
                vague=not match.items and not edit.old,
            )
            if edit.old and edit.new and _is_reworded(edit):
                rewordings.append(idea)
            elif edit.old:
                # Something else in its place, or nothing: what is there may be what is wrong.
                other += [idea] if match.items else []
            elif not match.items:
                vague.append(idea)
            elif not match.restated:
                about.append(idea)
        found = [*about, *other[:1], *vague][:_MOST_LINES]
        return found or (rewordings[:1] if first else [])

    def _without_quotes(
        self, edits: Sequence[LineEdit], configuration: Configuration, items: Sequence[Item]
    ) -> list[LineEdit]:
        """Without lines that quote an item, and without any new ones if they do it together."""
        before = "\n".join(configuration.sections.values())
        kept = []
        for edit in edits:
            copied = copied_items(edit.new, before, items) if edit.new else []
            self.copied.extend(copied)
            if not copied:
                kept.append(edit)
        together = copied_items("\n".join(edit.new for edit in kept), before, items)
        self.copied.extend(together)
        return [edit for edit in kept if not edit.new] if together else kept


def foremost(ideas: Sequence[Idea], matcher: FailureMatcher) -> list[Idea]:
    """Without new lines that take up nothing of what is said against their failure, if others do.

    Their turn comes when nothing better is at hand.
    """
    found = [
        idea
        for idea in ideas
        if idea.edit is not None
        and not idea.vague
        and (idea.edit.old or matcher.takes_up(idea.edit.new, idea.failures[0]))
    ]
    return found or list(ideas)


def _is_reworded(edit: LineEdit) -> bool:
    """Whether the new line says the old one's words, nearly."""
    old, new = words_of(edit.old), words_of(edit.new)
    return len(old & new) >= _SAME_WORDS * min(len(old), len(new))


def _merged(first: Idea | None, second: Idea) -> Idea:
    if first is None:
        return second
    failures = tuple(dict.fromkeys((*first.failures, *second.failures)))
    return Idea(failures=failures, said=first.said, edit=first.edit)


@dataclass(slots=True)
class _Complaint:
    text: str
    words: frozenset[str]
    items: set[str]


def recurring_reasons(results: Iterable[ItemResult]) -> tuple[str, ...]:
    """What judges said of first outputs that refinement then made better, the most frequent first.

    Of complaints that are alike in words the shortest stands for all; what was said of one item only
    is left out.
    """
    found: list[_Complaint] = []
    refined = 0
    for result in results:
        refinement = result.refinement
        if refinement is None or refinement.rounds == 0:
            continue
        refined += 1
        reason = " ".join(refinement.first_reason.split())[:_LONGEST]
        if refinement.outcome in _RESOLVED and reason:
            _add(found, reason, result.item_id)
    recurring = [one for one in found if len(one.items) >= _RECURS]
    recurring.sort(key=lambda one: (-len(one.items), one.text))
    return tuple(
        f"{one.text} ({len(one.items)} of {refined} refined answers)"
        for one in recurring[:_MOST_REASONS]
    )


def _add(found: list[_Complaint], reason: str, item_id: str) -> None:
    words = words_of(reason)
    for one in found:
        if _alike(words, one.words):
            one.items.add(item_id)
            one.text = min(one.text, reason, key=lambda text: (len(text), text))
            return
    found.append(_Complaint(reason, words, {item_id}))


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    if not one or not other:
        return one == other
    return len(one & other) >= _ALIKE * min(len(one), len(other))
