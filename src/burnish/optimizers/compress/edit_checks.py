"""Edits of strategies, checked one by one: a bad one is refused by itself, tokens are counted here."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from burnish.domain import Configuration, ReasonCode, placeholders, text_hash
from burnish.models import count_tokens
from burnish.optimizers.compress.coverage import Protection
from burnish.optimizers.compress.strategies import CompressStrategy, SectionEdit


async def checked_edits(
    strategies: Sequence[CompressStrategy],
    baseline: Configuration,
    paths: Sequence[str],
    protection: Protection,
) -> tuple[list[SectionEdit], list[dict[str, Any]]]:
    """What the strategies propose for these sections, each name once, and what was refused and why."""
    shown = protection.hide(baseline)
    found: dict[str, SectionEdit] = {}
    refused: list[dict[str, Any]] = []
    for strategy in strategies:
        for edit in await _propose(strategy, shown, paths):
            why = _mistake(edit, shown, paths)
            if why is None:
                whole = _counted(edit, baseline, protection)
                if whole.token_reduction > 0:
                    found.setdefault(whole.name, whole)
                    continue
                why = "it saves no token"
            told = {"section_path": edit.path, "edit": edit.name.partition("/")[2], "reason": why}
            refused.append(told)
    return list(found.values()), refused


async def _propose(
    strategy: CompressStrategy, configuration: Configuration, paths: Sequence[str]
) -> Sequence[SectionEdit]:
    """Plain methods run off the event loop."""
    if inspect.iscoroutinefunction(strategy.propose):
        return await strategy.propose(configuration, paths)
    answer: Any = await asyncio.to_thread(strategy.propose, configuration, paths)
    edits: Sequence[SectionEdit] = await answer if inspect.isawaitable(answer) else answer
    return edits


def _mistake(edit: SectionEdit, shown: Configuration, paths: Sequence[str]) -> str | None:
    """Why an edit cannot be tried, with a reason code; None where it can."""
    if edit.path not in paths:
        return f"{ReasonCode.SECTION_LOCKED.value}: this section is not to be compressed"
    text = shown.sections[edit.path]
    if edit.original_hash != text_hash(text):
        return "stale_override: the section has another text than the edit was made for"
    if not edit.proposed_body.strip():
        return f"{ReasonCode.EMPTY_SECTION.value}: nothing would be left"
    before, after = set(placeholders(text)), set(placeholders(edit.proposed_body))
    if before - after:
        names = ", ".join(sorted(before - after))
        return f"{ReasonCode.PLACEHOLDER_DROPPED.value}: it leaves out {names}"
    if after - before:
        names = ", ".join(sorted(after - before))
        return f"{ReasonCode.PLACEHOLDER_UNKNOWN.value}: it adds {names}"
    return None


def _counted(edit: SectionEdit, baseline: Configuration, protection: Protection) -> SectionEdit:
    """The edit of the text as it is, with its protected lines."""
    text, body = baseline.sections[edit.path], protection.show(edit.proposed_body)
    return replace(
        edit,
        original_hash=text_hash(text),
        proposed_body=body,
        original_tokens=count_tokens(text),
        proposed_tokens=count_tokens(body),
    )
