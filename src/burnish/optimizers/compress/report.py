"""Compression report: accepted and rejected modifications, and how they are applied."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from burnish.domain import DEFAULT_TAG, Configuration, ConflictError, UsageError, text_hash
from burnish.domain.optimizations.records import is_shown_worse
from burnish.optimizers.compress.coverage import UntestedLine, says
from burnish.optimizers.compress.cuts import with_parts
from burnish.optimizers.compress.examples import (
    EXAMPLES,
    part_text,
    part_tokens,
    parts_of,
    read_examples,
)
from burnish.optimizers.compress.search import Solution
from burnish.overrides import (
    PromptDescriptor,
    PromptOverride,
    PromptOverridesStore,
    SectionOverride,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Modification:
    """A shorter text that regresses nothing. `original_hash` is of the text that it replaces.

    The examples have the path `@examples`, and their text is the JSON of the list. `built_on` is the
    baseline tag, where it had overrides, and `built_on_revision` what it was at: only together with
    these was the text tried.
    """

    section_path: str
    original_hash: str
    proposed_body: str
    token_reduction: int
    baseline_pass_rate: float
    candidate_pass_rate: float
    edits: tuple[str, ...] = ()
    built_on: str | None = None
    built_on_revision: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The JSON form that `of` reads."""
        return {**asdict(self), "edits": list(self.edits)}

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Modification:
        """From its JSON form."""
        return cls(**{**value, "edits": tuple(value.get("edits") or ())})


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedModification:
    """An edit that was not accepted, and items that it would have broken.

    The first confirmed regression ends an edit, so there may be more of them: `regression_count` is
    the least number.
    """

    section_path: str
    edit: str
    token_reduction: int
    regression_count: int
    reason: str
    item_ids: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The JSON form that `of` reads."""
        return {**asdict(self), "item_ids": list(self.item_ids)}

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> RejectedModification:
        """From its JSON form."""
        return cls(**{**value, "item_ids": tuple(value.get("item_ids") or ())})


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionOutcome:
    """What every report of a compression tells, in the process and by message.

    `held_out` has both scores on items that the search never saw, with their difference's bounds.
    `untested` are lines of the prompt that no item tests, which stay unless that was asked for.
    """

    baseline_pass_rate: float
    candidate_pass_rate: float = 0.0
    modifications: tuple[Modification, ...] = ()
    rejected: tuple[RejectedModification, ...] = ()
    regressions: tuple[str, ...] = ()
    evaluations: int = 0
    stop_message: str | None = None
    held_out: Mapping[str, Any] | None = None
    untested: tuple[UntestedLine, ...] = ()

    @property
    def total_token_reduction(self) -> int:
        """What one prompt is shorter by under the modifications."""
        return sum(one.token_reduction for one in self.modifications)

    @property
    def has_modifications(self) -> bool:
        """Whether anything was shortened."""
        return bool(self.modifications)

    @property
    def refuted(self) -> bool:
        """Whether held-out items show more than chance that what was found is worse: keep none."""
        return is_shown_worse(self.held_out)


def modifications_of(
    baseline: Configuration,
    best: Configuration,
    solution: Solution | None,
    *,
    baseline_pass_rate: float,
    candidate_pass_rate: float,
) -> tuple[Modification, ...]:
    """One for each section that changed, and one for the examples."""
    accepted = () if solution is None else solution.accepted
    found: list[Modification] = []
    for path in parts_of(baseline):
        before, after = part_text(baseline, path) or "", part_text(best, path) or "[]"
        if before == after:
            continue
        one = Modification(
            section_path=path,
            original_hash=text_hash(before),
            proposed_body=after,
            token_reduction=part_tokens(baseline, path) - part_tokens(best, path),
            baseline_pass_rate=baseline_pass_rate,
            candidate_pass_rate=candidate_pass_rate,
            edits=tuple(cut.describe() for cut in accepted if cut.path == path),
        )
        found.append(one)
    return tuple(found)


def rejections_of(
    solution: Solution | None, untried: Iterable[Mapping[str, Any]] = ()
) -> tuple[RejectedModification, ...]:
    """What was refused, the largest saving first, and what was never tried."""
    refusals = () if solution is None else solution.refusals.values()
    tried = tuple(
        RejectedModification(
            section_path=one.cut.path,
            edit=one.cut.describe(),
            token_reduction=one.cut.saving,
            regression_count=len(one.item_ids),
            reason=one.reason,
            item_ids=one.item_ids,
        )
        for one in sorted(refusals, key=lambda one: (-one.cut.saving, one.cut.name))
    )
    return tried + tuple(
        RejectedModification(**{"token_reduction": 0, "regression_count": 0, **one})
        for one in untried
    )


def refutations_of(
    refuted: Iterable[Configuration], best: Configuration
) -> tuple[RejectedModification, ...]:
    """What results had beyond the best that held-out items speak against."""
    return tuple(
        RejectedModification(
            section_path=path,
            edit=f"{path} in {part_tokens(one, path)} tokens",
            token_reduction=part_tokens(best, path) - part_tokens(one, path),
            regression_count=0,
            reason="held-out items speak against the prompt with it",
        )
        for one in refuted
        for path in parts_of(best)
        if part_text(one, path) != part_text(best, path)
    )


def told_of(lines: Iterable[UntestedLine], best: Configuration) -> tuple[UntestedLine, ...]:
    """Untested lines, with whether the result still says them."""
    return tuple(
        replace(one, kept=says(best.sections.get(one.section_path, ""), one.text)) for one in lines
    )


def with_modifications(
    configuration: Configuration | Mapping[str, Any], modifications: Iterable[Modification]
) -> Configuration:
    """The configuration under the modifications; refused where a text has changed since."""
    current = Configuration.of(configuration)
    changes: dict[str, str] = {}
    examples = current.examples
    for one in modifications:
        text = part_text(current, one.section_path)
        if text is None:
            raise UsageError(
                what=f"the modification of {one.section_path!r} cannot be applied",
                why="the configuration has no such section",
                fix=f"it has {', '.join(parts_of(current)) or 'none'}",
                code="unknown_section",
            )
        if text_hash(text) != one.original_hash:
            raise ConflictError(
                what=f"the modification of {one.section_path!r} cannot be applied",
                why="the section's text has changed since the modification was made",
                fix="compress the configuration as it is now",
                code="stale_override",
            )
        if one.section_path == EXAMPLES:
            examples = read_examples(one.proposed_body)
        else:
            changes[one.section_path] = one.proposed_body
    return with_parts(current, changes, examples)


async def apply_modifications(
    store: PromptOverridesStore,
    descriptor: PromptDescriptor,
    modifications: Iterable[Modification],
    *,
    tag: str = DEFAULT_TAG,
    built_on: str | None = None,
    expected: str | None = None,
) -> str:
    """Set the modified sections of a tag, all at once, and return its new revision.

    What else the tag holds stays. `built_on` names the baseline tag where that is another one, by
    default the one that the modifications were tried with: the tag becomes all that the baseline
    holds, with the modifications on top. Modifications of a text that has changed since are refused,
    and so is a tag that is not at `expected` any more, or a baseline tag that was changed after they
    were tried with it, unless `built_on` says that it is meant as it is. Examples are not part of a
    descriptor, so whether they have changed since is not checked here.
    """
    modifications = tuple(modifications)
    if built_on is None and (tried := next((one for one in modifications if one.built_on), None)):
        built_on = await _as_it_was(store, descriptor, tried)
        expected = expected or (tried.built_on_revision if built_on == tag else None)
    override = override_of(descriptor, tag, modifications)
    if built_on is None or built_on == tag:
        return await store.upsert(descriptor, override, expected=expected)
    # Sections go with the copy. Where examples change too, the tag is for a moment the baseline
    # itself, which is safe to run under; half of a compression is not.
    whole = override.examples is None
    revision = await store.copy_tag(
        descriptor,
        source=built_on,
        target=tag,
        overrides=override.sections.values() if whole else (),
        expected=expected,
    )
    return revision if whole else await store.upsert(descriptor, override, expected=revision)


async def _as_it_was(
    store: PromptOverridesStore, descriptor: PromptDescriptor, tried: Modification
) -> str | None:
    """The baseline tag, refused where it is not what a modification was tried with."""
    assert tried.built_on is not None
    found = await store.resolve(descriptor, tag=tried.built_on)
    now = None if found is None else found.revision
    if tried.built_on_revision not in (None, now):
        raise ConflictError(
            what="the modifications cannot be applied",
            why=f"the tag {tried.built_on!r}, which they were tried with, "
            + ("is gone" if now is None else "was changed since"),
            fix="compress the prompt as it is now, or give built_on= to build on the tag as it is",
            code="tag_changed",
        )
    return tried.built_on


def override_of(
    descriptor: PromptDescriptor, tag: str, modifications: Iterable[Modification]
) -> PromptOverride:
    """What a tag holds that is exactly these modifications."""
    sections: list[SectionOverride] = []
    examples = None
    for one in modifications:
        if one.section_path == EXAMPLES:
            examples = read_examples(one.proposed_body)
            continue
        override = SectionOverride(
            path=one.section_path, expected_hash=one.original_hash, body=one.proposed_body
        )
        sections.append(override)
    return replace(PromptOverride.of(descriptor, tag, sections), examples=examples)
