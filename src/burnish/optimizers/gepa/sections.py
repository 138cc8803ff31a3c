"""Which sections `gepa` may rewrite, by its mutation strategies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from burnish.domain import Configuration, SearchSpace, UsageError
from burnish.optimizers.shared.facts import RunFacts
from burnish.support.hints import did_you_mean

_TEMPLATES = {"system_template": "system", "user_template": "user"}
# A section of fewer words says nothing that could be improved.
_TELLING_WORDS = 3


def narrowed(
    space: SearchSpace, baseline: Configuration, strategies: Sequence[str] | None
) -> SearchSpace:
    """The space with those sections only that the strategies name; all of them without any."""
    if strategies is None:
        return space
    wanted = tuple(dict.fromkeys(_section(one, space, baseline) for one in strategies))
    return replace(space, sections=wanted)


def rewritable(facts: RunFacts, strategies: Sequence[str] | None) -> tuple[str, ...]:
    """What was asked for, else every free section that says something."""
    free = [path for path in facts.baseline.sections if facts.space.may_change(path)]
    if strategies is not None:
        return tuple(free)
    telling = [
        path for path in free if len(facts.baseline.sections[path].split()) >= _TELLING_WORDS
    ]
    return tuple(telling or free)


def _section(strategy: str, space: SearchSpace, baseline: Configuration) -> str:
    path = _TEMPLATES.get(strategy, strategy)
    free = [one for one in baseline.sections if space.may_change(one)]
    if path in free:
        return path
    if path in baseline.sections:
        why = f"the search space does not let the section {path!r} change"
        fix = f"free it in the search space, or name one of: {', '.join(free) or 'none is free'}"
    else:
        known = [*(one for one, own in _TEMPLATES.items() if own in free), *free]
        hint = did_you_mean(strategy, known)
        why = f"{strategy!r} is no strategy, and the baseline has no section {path!r}"
        fix = (f"{hint} There are " if hint else "name one of: ") + ", ".join(known)
    raise UsageError(
        what="the setting 'mutation_strategies' of the optimizer 'gepa' cannot be used",
        why=why,
        fix=fix,
        code="invalid_setting",
    )
