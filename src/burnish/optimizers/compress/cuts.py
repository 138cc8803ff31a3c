"""Cuts that a compression may choose from, and the configuration that some of them make."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from burnish.domain import Configuration, placeholders
from burnish.models import count_tokens
from burnish.optimizers.compress.examples import (
    EXAMPLES,
    Examples,
    example_tokens,
    read_examples,
)
from burnish.optimizers.compress.strategies import SectionEdit
from burnish.optimizers.compress.units import split_units

_SHOWN = 48


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """One choice of a search: a whole section's other text, or one line or example less.

    A line's cut is of the text under `base`, the name of the section's accepted edit or nothing.
    """

    name: str
    path: str
    saving: int
    body: str = ""
    base: str = ""
    unit: int | None = None
    # How a line begins.
    words: str = ""

    def describe(self) -> str:
        """In words."""
        saved = f"(−{self.saving} tokens)"
        if self.unit is None:
            return f"{self.name.partition('/')[2]} of {self.path} {saved}"
        if self.path == EXAMPLES:
            return f"example {self.unit + 1} out {saved}"
        return f"“{self.words}” out of {self.path} {saved}"


def shorten(text: str) -> str:
    """The first words of a text, to know it by."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[:_SHOWN].rsplit(" ", 1)[0] + " …"


def section_cuts(edits: Iterable[SectionEdit]) -> dict[str, list[Cut]]:
    """The choices of each section, the largest saving first."""
    found: dict[str, list[Cut]] = {}
    for edit in edits:
        cut = Cut(
            name=edit.name, path=edit.path, saving=edit.token_reduction, body=edit.proposed_body
        )
        found.setdefault(edit.path, []).append(cut)
    return {
        path: sorted(cuts, key=lambda one: (-one.saving, one.name)) for path, cuts in found.items()
    }


MayGo = Callable[[str], bool]


def unit_cuts(
    configuration: Configuration, path: str, base: str, may_go: MayGo = lambda line: True
) -> list[Cut]:
    """One cut for each line of a section, or for each example, that may go."""
    if path == EXAMPLES:
        return _example_cuts(configuration, base)
    return line_cuts(path, configuration.sections[path], base, may_go)


def line_cuts(path: str, text: str, base: str, may_go: MayGo = lambda line: True) -> list[Cut]:
    """One cut for each line that may go, or that only repeats an earlier one.

    Those with placeholders stay, and so does the last.
    """
    units = split_units(text)
    if len(units) < 2:
        return []
    whole = count_tokens(text)
    found: list[Cut] = []
    seen: set[str] = set()
    for index, unit in enumerate(units):
        repeats = unit.key in seen
        seen.add(unit.key)
        if not (repeats or may_go(unit.text)):
            continue
        left = "".join(one.text + one.tail for n, one in enumerate(units) if n != index)
        saving = whole - count_tokens(left.rstrip())
        if saving > 0 and not placeholders(unit.text):
            found.append(_unit_cut(path, base, index, saving, shorten(unit.text)))
    return found


def _example_cuts(configuration: Configuration, base: str) -> list[Cut]:
    return [
        _unit_cut(EXAMPLES, base, index, example_tokens(configuration, one))
        for index, one in enumerate(configuration.examples)
    ]


def _unit_cut(path: str, base: str, index: int, saving: int, words: str = "") -> Cut:
    name = f"{path}#{base}#{index}"
    return Cut(name=name, path=path, saving=saving, base=base, unit=index, words=words)


def build(baseline: Configuration, cuts: Iterable[Cut]) -> Configuration | None:
    """The baseline under some cuts; None where they leave nothing of a section."""
    bodies: dict[str, str] = {}
    gone: dict[str, set[int]] = {}
    for cut in cuts:
        if cut.unit is None:
            bodies[cut.path] = cut.body
        else:
            gone.setdefault(cut.path, set()).add(cut.unit)
    examples = _examples_left(baseline, bodies.pop(EXAMPLES, None), gone.pop(EXAMPLES, set()))
    for path, indexes in gone.items():
        units = split_units(bodies.get(path, baseline.sections[path]))
        left = [unit for index, unit in enumerate(units) if index not in indexes]
        bodies[path] = "".join(unit.text + unit.tail for unit in left).rstrip()
        if not bodies[path].strip():
            return None
    return with_parts(baseline, bodies, examples)


def _examples_left(baseline: Configuration, body: str | None, gone: set[int]) -> Examples:
    kept = baseline.examples if body is None else read_examples(body)
    return tuple(one for index, one in enumerate(kept) if index not in gone)


def with_parts(
    configuration: Configuration, sections: dict[str, str], examples: Examples
) -> Configuration:
    """The configuration with other texts and these examples."""
    changed = configuration.with_sections(sections)
    if tuple(examples) == configuration.examples:
        return changed
    return Configuration.of({**changed.to_json(), "examples": list(examples)})
