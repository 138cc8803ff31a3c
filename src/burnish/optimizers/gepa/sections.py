"""Which sections `gepa` may rewrite, by its mutation strategies."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from burnish.domain import Configuration, SearchSpace, UsageError
from burnish.optimizers.shared.facts import RunFacts
from burnish.support.hints import did_you_mean
from burnish.support.number_checks import bad_setting

_TEMPLATES = {"system_template": "system", "user_template": "user"}
_DIRECTIVES = {
    "system_template": "Ways to change this text: add bullet instructions or remove some, adjust the "
    "tone, put its sections in another order.",
    "user_template": "Ways to change this text: format its examples in another way, add clarifying "
    "questions, tighten its constraints.",
}
_NAME = re.compile(r"\{\{.*?\}\}")


def narrowed(
    space: SearchSpace, baseline: Configuration, strategies: Sequence[str] | None
) -> SearchSpace:
    """The space with those sections only that the strategies name; all of them without any."""
    if strategies is None:
        return space
    wanted = tuple(dict.fromkeys(_section(one, space, baseline) for one in strategies))
    return replace(space, sections=wanted)


def rewritable(facts: RunFacts, strategies: Sequence[str] | None) -> tuple[str, ...]:
    """What was asked for, else every free section but for those that are a bare placeholder."""
    sections = facts.baseline.sections
    free = [path for path in sections if facts.space.may_change(path)]
    if strategies is not None:
        return tuple(free)
    return tuple([path for path in free if not _is_bare(sections[path])] or free)


def left_out(facts: RunFacts, strategies: Sequence[str] | None) -> dict[str, str]:
    """The sections that are not rewritten, each with the reason."""
    chosen = rewritable(facts, strategies)
    named = () if strategies is None else [_TEMPLATES.get(one, one) for one in strategies]
    found = {}
    for path, text in facts.baseline.sections.items():
        if path in chosen:
            continue
        if strategies is not None and path not in named:
            found[path] = "mutation_strategies does not name it"
        elif facts.space.may_change(path) and _is_bare(text):
            found[path] = "it is a bare placeholder; name it in mutation_strategies to change it"
        else:
            found[path] = "the search space does not let it change"
    return found


def directives(strategies: Sequence[str] | None) -> dict[str, str]:
    """What each strategy tells the meta-model, by section."""
    return {_TEMPLATES[one]: _DIRECTIVES[one] for one in strategies or () if one in _TEMPLATES}


def checked_guidance(value: str | None) -> str | None:
    """The setting, if it is text."""
    if value is not None and not isinstance(value, str):
        raise bad_setting("gepa", "guidance", f"{value!r} is not text")
    return value


def checked_section_guidance(value: Mapping[str, str] | None) -> Mapping[str, str]:
    """The setting, if it is a table of texts."""
    texts = {} if value is None else value
    if not isinstance(texts, Mapping) or not all(isinstance(one, str) for one in texts.values()):
        raise bad_setting("gepa", "section_guidance", f"{value!r} is not a table of texts")
    return dict(texts)


def require_known(baseline: Configuration, section_guidance: Mapping[str, str]) -> None:
    """Refuse guidance for sections that there are not."""
    for path in section_guidance:
        if path not in baseline.sections:
            known = list(baseline.sections)
            raise UsageError(
                what="the setting 'section_guidance' of the optimizer 'gepa' cannot be used",
                why=f"the baseline has no section {path!r}",
                fix=did_you_mean(path, known, f"name one of: {', '.join(known)}"),
                code="invalid_setting",
            )


def _is_bare(text: str) -> bool:
    return bool(_NAME.search(text)) and not any(map(str.isalnum, _NAME.sub("", text)))


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
