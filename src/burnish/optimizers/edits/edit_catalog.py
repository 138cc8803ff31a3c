"""Edit catalog: all edits that a baseline allows, and candidates as sets of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from burnish.domain import Candidate, Configuration, Json, placeholders
from burnish.optimizers.edits.answer_edits import (
    definition_edits,
    format_edits,
    instruction_edits,
    label_word_edits,
)
from burnish.optimizers.edits.edit import (
    Edit,
    Stage,
    capitalised,
    section_edit,
    sentences,
    with_parameter,
)
from burnish.optimizers.edits.subject import Subject
from burnish.optimizers.edits.task_edits import (
    frame_edits,
    opening_edits,
    wording_edits,
)
from burnish.optimizers.parameters.axes import values_of
from burnish.optimizers.shared.acceptance import is_acceptable, is_short_enough
from burnish.optimizers.shared.candidate_metadata import metadata_of
from burnish.optimizers.shared.facts import RunFacts

_STEPS = 4
_MOST = 12
_FILLER = re.compile(
    r"\b(?:please|kindly|very|really|just|simply|basically|actually|in order(?= to)|"
    r"make sure to|be sure to|it is important (?:that you|to))\s+",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class EditSet:
    """Edits that took effect together, in their fixed order, and what came of them."""

    names: tuple[str, ...]
    configuration: Configuration

    @property
    def metadata(self) -> dict[str, Json]:
        """What `EditCatalog.names_of` reads of a candidate that is made of it."""
        return {"edits": list(self.names)}


@dataclass(frozen=True, kw_only=True)
class EditCatalog:
    """The edits of one baseline by name. The same baseline gives the same edits everywhere."""

    facts: RunFacts
    edits: dict[str, Edit]
    max_prompt_tokens: int | None = None

    @classmethod
    def of(cls, facts: RunFacts, *, max_prompt_tokens: int | None = None) -> EditCatalog:
        """Every edit of every family that may change this baseline."""
        subject = Subject.of(facts.baseline, facts.space, facts.labels)
        found: dict[str, Edit] = {}
        for family in _FAMILIES:
            for edit in family(subject):
                found.setdefault(edit.name, edit)
        return cls(facts=facts, edits=found, max_prompt_tokens=max_prompt_tokens)

    def singles(self) -> Iterator[str]:
        """Edits that change the baseline by themselves, each to another text."""
        seen: set[str] = set()
        for name in self.edits:
            made = self.build([name])
            if made is not None and made.configuration.hash not in seen:
                seen.add(made.configuration.hash)
                yield name

    def build(self, names: Iterable[str]) -> EditSet | None:
        """The baseline under these edits, or None when that cannot be proposed.

        The first of two edits of one group wins. Edits without effect in this company are left
        out of the result's names, so that names and text always agree.
        """
        configuration = self.facts.baseline
        applied: list[str] = []
        for edit in self._ordered(names):
            changed = edit.apply(configuration)
            if changed is not None and changed != configuration:
                configuration = changed
                applied.append(edit.name)
        if not applied or not is_acceptable(
            configuration, baseline=self.facts.baseline, space=self.facts.space
        ):
            return None
        if not is_short_enough(configuration, self.max_prompt_tokens):
            return None
        return EditSet(names=tuple(applied), configuration=configuration)

    def with_edit(self, names: Sequence[str], name: str) -> tuple[str, ...]:
        """The names with one more, which replaces the one of its group."""
        group = self.edits[name].group
        return (*(one for one in names if self.edits[one].group != group), name)

    def describe(self, names: Sequence[str]) -> str:
        """A rationale that people read, with the names at its end."""
        said = "; ".join(self.edits[name].says for name in names)
        return f"{said[:1].upper()}{said[1:]}. [edits: {json.dumps(list(names))}]"

    def names_of(self, candidate: Candidate) -> tuple[str, ...] | None:
        """The edits that a candidate was made of; None when it is no set of these edits."""
        names = metadata_of(candidate).get("edits")
        if not isinstance(names, (list, tuple)):
            return None
        known = [name for name in names if isinstance(name, str) and name in self.edits]
        return tuple(known) if len(known) == len(names) else None

    def _ordered(self, names: Iterable[str]) -> list[Edit]:
        by_group: dict[str, Edit] = {}
        for name in names:
            edit = self.edits[name]
            by_group.setdefault(edit.group, edit)
        place = {name: number for number, name in enumerate(self.edits)}
        return sorted(by_group.values(), key=lambda edit: (edit.stage, place[edit.name]))


def setting_edits(subject: Subject) -> list[Edit]:
    """One edit for each other value of each declared parameter; two for examples."""
    found: list[Edit] = []
    for name in sorted(subject.space.parameters):
        values = values_of(subject.space.parameters[name], steps=_STEPS)
        own = subject.baseline.parameters.get(name)
        found += [_parameter(name, value) for value in values if value != own]
    if subject.baseline.examples:
        found.append(_examples("none", "show no examples", ()))
    if len(subject.baseline.examples) > 1:
        turned = tuple(reversed(subject.baseline.examples))
        found.append(_examples("reversed", "show the examples the other way round", turned))
    return found


def _parameter(name: str, value: Json) -> Edit:
    shown = str(value).replace(",", ";").replace("]", ")").replace("[", "(")
    return Edit(
        name=f"parameter:{name}:{shown}",
        group=f"parameter:{name}",
        stage=Stage.SETTINGS,
        says=f"set {name} to {value!r}",
        apply=lambda configuration: with_parameter(configuration, name, value),
    )


def _examples(kind: str, says: str, examples: tuple[object, ...]) -> Edit:
    def apply(configuration: Configuration) -> Configuration | None:
        return Configuration.of({**configuration.to_json(), "examples": list(examples)})

    return Edit(
        name=f"examples:{kind}", group="examples", stage=Stage.SETTINGS, says=says, apply=apply
    )


def line_edits(subject: Subject) -> list[Edit]:
    """For every free section: drop one line or sentence, swap or reorder lines, cut filler."""
    found: list[Edit] = []
    for path in subject.free_paths():
        text = subject.baseline.sections[path]
        found += [*_dropped(path, text), *_moved(path, text), *_shortened(path, text)]
    return found


def _parts(text: str) -> list[str]:
    """Lines that say something, or the sentences when there is only one such line."""
    lines = [line for line in text.split("\n") if line.strip() and not placeholders(line)]
    several = [one for line in lines for one in sentences(line)]
    return lines if len(lines) > 1 else several


def _dropped(path: str, text: str) -> list[Edit]:
    parts = _parts(text)
    if len(parts) < 2 and not placeholders(text):
        return []
    named = {str(number): part for number, part in enumerate(parts[:_MOST], start=1)}
    for number, part in list(named.items()):
        several = sentences(part)
        if len(several) > 1:
            named |= {f"{number}.{place}": one for place, one in enumerate(several, start=1)}
    return [
        Edit(
            name=f"drop:{path}:{number}",
            group=f"drop:{path}:{number}",
            stage=Stage.LINES,
            says=f"drop “{_short(part)}”",
            apply=section_edit(path, partial(_without, parts=(part,))),
        )
        for number, part in list(named.items())[: 2 * _MOST]
    ]


def _without(text: str, *, parts: Sequence[str]) -> str | None:
    lines = text.split("\n")
    for part in parts:
        if part in lines:
            lines.remove(part)
            continue
        holder = next((i for i, line in enumerate(lines) if part in line), None)
        if holder is None:
            return None
        lines[holder] = re.sub(r"  +", " ", lines[holder].replace(part, "", 1)).strip()
    left = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")
    return left if left.strip() else None


def _moved(path: str, text: str) -> list[Edit]:
    parts = _parts(text)
    if len(parts) < 2:
        return []
    orders: dict[str, list[int]] = {"last_first": [len(parts) - 1, *range(len(parts) - 1)]}
    for i in range(min(len(parts) - 1, _MOST)):
        swapped = list(range(len(parts)))
        swapped[i], swapped[i + 1] = i + 1, i
        orders[f"swap_{i + 1}"] = swapped
    if len(parts) > 2:
        orders["reversed"] = list(range(len(parts)))[::-1]
    return [
        Edit(
            name=f"move:{path}:{kind}",
            group=f"move:{path}",
            stage=Stage.LINES,
            says=f"put the lines of {path} in another order ({kind.replace('_', ' ')})",
            apply=section_edit(path, partial(_reordered, parts=parts, order=order)),
        )
        for kind, order in orders.items()
        if kind != "last_first" or len(parts) > 2
    ]


def _reordered(text: str, *, parts: Sequence[str], order: Sequence[int]) -> str | None:
    """Each part's place taken by another part; what stands between them stays."""
    pieces: list[str] = []
    rest = text
    for part in parts:
        before, found, rest = rest.partition(part)
        if not found:
            return None
        pieces.append(before)
    return "".join(pieces[i] + parts[order[i]] for i in range(len(parts))) + rest


def _shortened(path: str, text: str) -> list[Edit]:
    found = []
    if _FILLER.search(text):
        found.append(
            Edit(
                name=f"shorten:{path}:filler",
                group=f"shorten:{path}",
                stage=Stage.SHORTEN,
                says="cut words that say nothing",
                apply=section_edit(path, _without_filler),
                promise=0.005,
            )
        )
    parts = _parts(text)
    half = len(parts) // 2
    cuts = {"first": parts[1:], "first_half": parts[half:], "second_half": parts[:half]}
    for kind, dropped in cuts.items():
        if len(parts) > (2 if kind == "first" else 3):
            found.append(
                Edit(
                    name=f"shorten:{path}:{kind}",
                    group=f"shorten:{path}",
                    stage=Stage.LINES,
                    says=f"keep only the {kind.replace('_', ' ')} of the instructions in {path}",
                    apply=section_edit(path, partial(_without, parts=tuple(dropped))),
                )
            )
    return found


def _without_filler(text: str) -> str | None:
    return "\n".join(
        capitalised(_FILLER.sub("", line)) if _FILLER.search(line) else line
        for line in text.split("\n")
    )


def _short(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


_FAMILIES = (
    frame_edits,
    wording_edits,
    label_word_edits,
    format_edits,
    definition_edits,
    instruction_edits,
    opening_edits,
    line_edits,
    setting_edits,
)
