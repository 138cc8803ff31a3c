"""A configuration's examples as one more thing to shorten: all, some or single ones go.

To edits, cuts and reports they are a part named `@examples`, which no section can be called, and whose
text is the JSON of the list.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from burnish.domain import Configuration, Json, UsageError, render, text_hash
from burnish.evaluation.agents.prompt_agent import role_of
from burnish.models import count_tokens
from burnish.optimizers.compress.strategies import SectionEdit

EXAMPLES = "@examples"
Examples = Sequence[Mapping[str, Json]]


def examples_text(examples: Examples) -> str:
    """The list as JSON, with keys in order: equal lists have equal texts."""
    return json.dumps([dict(one) for one in examples], ensure_ascii=False, sort_keys=True)


def read_examples(text: str) -> tuple[Mapping[str, Json], ...]:
    """The list that a text is of."""
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, list):
        raise UsageError(
            what=f"the text of {EXAMPLES} cannot be read",
            why="it is no JSON list of objects",
            fix="use modifications as a report of `compress` has them",
            code="invalid_example",
        )
    return Configuration.of({"sections": {}, "examples": value}).examples


def part_text(configuration: Configuration, path: str) -> str | None:
    """The text of a section or of the examples; None where there is none."""
    if path == EXAMPLES:
        return examples_text(configuration.examples) if configuration.examples else None
    return configuration.sections.get(path)


def part_tokens(configuration: Configuration, path: str) -> int:
    """What a section, or the examples together, add to a prompt."""
    if path != EXAMPLES:
        return count_tokens(configuration.sections[path])
    return sum(example_tokens(configuration, one) for one in configuration.examples)


def example_tokens(configuration: Configuration, example: Mapping[str, Json]) -> int:
    """What one example adds: the user's section filled in with it, and its answer.

    An example of another form is for a function of the user's to show: its JSON is what is counted.
    """
    shown, output = example.get("input"), example.get("output")
    if isinstance(shown, Mapping) and isinstance(output, str):
        user = "\n\n".join(
            text for path, text in configuration.sections.items() if role_of(path) == "user"
        )
        try:
            return count_tokens(render(user, shown)) + count_tokens(output)
        except UsageError:
            pass
    return count_tokens(json.dumps(dict(example), ensure_ascii=False))


def example_edits(configuration: Configuration) -> list[SectionEdit]:
    """Two strengths: no examples at all, and the first one of each answer."""
    found: list[SectionEdit] = []
    every = configuration.examples
    for strength, kept in (("none", ()), ("one-each", _one_each(every))):
        if len(kept) < len(every):
            found.append(_edit(configuration, strength, kept))
    return found


def _one_each(examples: Examples) -> Examples:
    firsts: dict[str, Mapping[str, Json]] = {}
    for one in examples:
        firsts.setdefault(json.dumps(one.get("output"), sort_keys=True), one)
    return tuple(firsts.values())


def _edit(configuration: Configuration, strength: str, kept: Examples) -> SectionEdit:
    return SectionEdit(
        path=EXAMPLES,
        original_hash=text_hash(examples_text(configuration.examples)),
        proposed_body=examples_text(kept),
        original_tokens=part_tokens(configuration, EXAMPLES),
        proposed_tokens=sum(example_tokens(configuration, one) for one in kept),
        strategy="examples",
        strength=strength,
    )


def require_parts(baseline: Configuration, paths: Sequence[str]) -> None:
    """Refuse names of sections that are not there."""
    for path in paths:
        if part_text(baseline, path) is not None:
            continue
        raise UsageError(
            what=f"the section {path!r} cannot be compressed",
            why="the prompt has no examples"
            if path == EXAMPLES
            else "the prompt has no such section",
            fix=f"use one of {', '.join(parts_of(baseline))}",
            code="unknown_section",
        )


def parts_of(configuration: Configuration) -> tuple[str, ...]:
    """The paths of all sections, and of the examples where there are some."""
    return (*configuration.sections, *((EXAMPLES,) if configuration.examples else ()))
