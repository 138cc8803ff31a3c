"""What a framework accepts of a proposal, checked before it is made: a refused one is a lost place."""

from __future__ import annotations

from burnish.domain import Configuration, SearchSpace, placeholders
from burnish.models.tokens import count_tokens


def is_acceptable(
    configuration: Configuration, *, baseline: Configuration, space: SearchSpace
) -> bool:
    """Whether sections, placeholders and the number of examples are within bounds."""
    if configuration.sections.keys() != baseline.sections.keys():
        return False
    if not baseline.placeholders <= configuration.placeholders:
        return False
    if len(configuration.examples) > space.max_examples:
        return False
    return all(
        _section_is_acceptable(path, text, baseline, space)
        for path, text in configuration.sections.items()
    )


def is_short_enough(configuration: Configuration, max_prompt_tokens: int | None) -> bool:
    """Whether all sections together stay within a prompt-length budget."""
    if max_prompt_tokens is None:
        return True
    return sum(map(count_tokens, configuration.sections.values())) <= max_prompt_tokens


def _section_is_acceptable(
    path: str, text: str, baseline: Configuration, space: SearchSpace
) -> bool:
    before = baseline.sections[path]
    if text == before:
        return True
    return (
        space.may_change(path)
        and (bool(text.strip()) or not before)
        and len(text) <= space.max_section_chars
        and baseline.placeholders.issuperset(placeholders(text))
    )
