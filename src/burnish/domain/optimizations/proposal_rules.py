"""Proposal rules: what a proposed configuration must keep of its baseline and its search space.

Pure functions. The framework refuses a proposal by them, and optimizers ask them beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from burnish.domain.configuration import Configuration, placeholders
from burnish.domain.optimizations.optimizer import ReasonCode, SearchSpace
from burnish.domain.wording import counted

# Settings of the prompt agent that follow a changed wording and are not model parameters.
_FREE_PARAMETERS = frozenset({"label_words", "label_bias"})


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that a configuration breaks, and in words how."""

    reason: ReasonCode
    message: str


def first_violation(
    configuration: Configuration, *, baseline: Configuration, space: SearchSpace
) -> Violation | None:
    """The first rule that a configuration breaks; None when it may be run."""
    return next(violations(configuration, baseline=baseline, space=space), None)


def violations(
    configuration: Configuration, *, baseline: Configuration, space: SearchSpace
) -> Iterator[Violation]:
    """Every rule that a configuration breaks: sections, placeholders, parameters, examples."""
    yield from kept_sections(configuration, baseline, space)
    for path, text in configuration.sections.items():
        yield from section_text(path, text, baseline, space)
    yield from kept_placeholders(configuration, baseline)
    yield from parameter_values(configuration, baseline, space)
    yield from example_count(configuration, space)


def kept_sections(
    configuration: Configuration, baseline: Configuration, space: SearchSpace
) -> Iterator[Violation]:
    """Sections of the baseline are all there, and locked ones as they were."""
    for path, text in baseline.sections.items():
        if path not in configuration.sections:
            yield Violation(
                ReasonCode.SECTION_MISSING, f"the section {path!r} of the baseline is gone"
            )
        elif configuration.sections[path] != text and not space.may_change(path):
            yield Violation(ReasonCode.SECTION_LOCKED, f"the section {path!r} may not be changed")


def section_text(
    path: str, text: str, baseline: Configuration, space: SearchSpace
) -> Iterator[Violation]:
    """A section is one of the baseline's, says something, is not too long and can be filled."""
    base = baseline.sections.get(path)
    if base is None:
        yield Violation(ReasonCode.UNKNOWN_FIELD, f"the baseline has no section {path!r} to change")
        return
    if base and not text.strip():
        yield Violation(ReasonCode.EMPTY_SECTION, f"the section {path!r} is empty")
    if len(text) > space.max_section_chars and text != base:
        yield Violation(
            ReasonCode.SECTION_TOO_LONG,
            f"the section {path!r} has {len(text)} characters; "
            f"at most {space.max_section_chars} are allowed",
        )
    after = set(placeholders(text))
    unknown = after - baseline.placeholders
    if unknown:
        yield Violation(
            ReasonCode.PLACEHOLDER_UNKNOWN,
            f"the section {path!r} names {{{{{min(unknown)}}}}}, which the baseline does not have",
        )
    if space.own_placeholders:
        # Where sections are filled apart, a placeholder can neither move nor be left out of one.
        before = set(placeholders(base))
        for names, reason, word in (
            (before - after, ReasonCode.PLACEHOLDER_DROPPED, "lost"),
            (after - before, ReasonCode.PLACEHOLDER_UNKNOWN, "is not given"),
        ):
            if names:
                yield Violation(reason, f"the section {path!r} {word} {{{{{min(names)}}}}}")


def kept_placeholders(configuration: Configuration, baseline: Configuration) -> Iterator[Violation]:
    """Placeholders of the baseline all stand in some section."""
    dropped = baseline.placeholders - configuration.placeholders
    if dropped:
        names = ", ".join(f"{{{{{name}}}}}" for name in sorted(dropped))
        yield Violation(
            ReasonCode.PLACEHOLDER_DROPPED, f"{names} of the baseline is in no section any more"
        )


def parameter_values(
    configuration: Configuration, baseline: Configuration, space: SearchSpace
) -> Iterator[Violation]:
    """Parameters are as in the baseline, or declared and in range; none is gone."""
    before, after = baseline.parameters, configuration.parameters
    for name in sorted({*before, *after} - _FREE_PARAMETERS):
        if name in before and name in after and after[name] == before[name]:
            continue
        if name not in after:
            yield Violation(ReasonCode.PARAMETER_OUT_OF_RANGE, f"the parameter {name!r} is gone")
            continue
        declared = space.parameters.get(name)
        if declared is None or not declared.allows(after[name]):
            allowed = "not to be changed" if declared is None else declared.describe()
            yield Violation(
                ReasonCode.PARAMETER_OUT_OF_RANGE,
                f"the parameter {name!r} is {after[name]!r}; it is {allowed}",
            )


def example_count(configuration: Configuration, space: SearchSpace) -> Iterator[Violation]:
    """Examples are not too many."""
    if len(configuration.examples) > space.max_examples:
        yield Violation(
            ReasonCode.TOO_MANY_EXAMPLES,
            f"it shows {counted(len(configuration.examples), 'example')}; "
            f"at most {space.max_examples} are allowed",
        )
