"""Texts that a setting lists for sections: checked, and read as an axis of a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from burnish.domain import RunContext, UsageError
from burnish.support.number_checks import bad_setting


def checked_texts(
    optimizer: str, sections: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    """The setting `sections`: lists of texts by section path."""
    if not isinstance(sections, Mapping):
        raise bad_setting(
            optimizer, "sections", f"{sections!r:.60} is not a table of lists of texts"
        )
    checked: dict[str, tuple[str, ...]] = {}
    for path, texts in sections.items():
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise bad_setting(optimizer, "sections", f"{path!r} is not given a list of texts")
        checked[path] = tuple(texts)
    return checked


def require_free(
    optimizer: str, sections: Mapping[str, Sequence[str]], context: RunContext
) -> None:
    """Refuse texts for sections that are not there or not free."""
    for path in sections:
        if path not in context.baseline.sections or not context.space.may_change(path):
            known = [one for one in context.baseline.sections if context.space.may_change(one)]
            raise UsageError(
                what=f"the {optimizer} optimizer cannot change the section {path!r}",
                why="the baseline has no such section, or it is locked",
                fix=f"use one of {', '.join(sorted(known)) or 'none: all are locked'}",
                code="unknown_section",
            )
