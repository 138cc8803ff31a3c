"""Acceptance of proposals, asked before they are made: allowed, short enough, not tried yet."""

from __future__ import annotations

from burnish.domain import Configuration, SearchSpace, TrialHistory, UsageError
from burnish.domain.optimizations.proposal_rules import first_violation
from burnish.models.tokens import count_tokens
from burnish.optimizers.edits.edit import shows_input_only
from burnish.optimizers.edits.subject import Subject
from burnish.optimizers.shared.facts import RunFacts
from burnish.optimizers.shared.search_status import tried_hashes


def is_acceptable(
    configuration: Configuration, *, baseline: Configuration, space: SearchSpace
) -> bool:
    """Whether the framework would run it: a proposal that it refuses is a lost place."""
    return first_violation(configuration, baseline=baseline, space=space) is None


def is_short_enough(configuration: Configuration, max_prompt_tokens: int | None) -> bool:
    """Whether all sections together stay within a prompt-length budget."""
    if max_prompt_tokens is None:
        return True
    return sum(map(count_tokens, configuration.sections.values())) <= max_prompt_tokens


class Fresh:
    """Hands out each configuration once."""

    def __init__(self, facts: RunFacts, history: TrialHistory) -> None:
        self._facts = facts
        self._taken = {facts.baseline.hash, *tried_hashes(history)}

    def allows(self, configuration: Configuration) -> bool:
        """Whether it may be proposed."""
        return configuration.hash not in self._taken and is_acceptable(
            configuration, baseline=self._facts.baseline, space=self._facts.space
        )

    def take(self, configuration: Configuration) -> bool:
        """Whether it may be proposed; from then on it may not."""
        allowed = self.allows(configuration)
        self._taken.add(configuration.hash)
        return allowed


def with_text(configuration: Configuration, path: str, text: str) -> Configuration | None:
    """The configuration with another text of a section; None when that text is not one."""
    try:
        return configuration.with_sections({path: text})
    except UsageError:
        return None


def speaking_paths(facts: RunFacts) -> list[str]:
    """Free sections that say something, in the order of roles; else all free ones with a text."""
    texts = facts.baseline.sections
    free = Subject.of(facts.baseline, facts.space, facts.labels).free_paths()
    written = [path for path in free if texts[path].strip()]
    saying = [
        path
        for path in written
        if any(line.strip() and not shows_input_only(line) for line in texts[path].split("\n"))
    ]
    return saying or written
