"""How many tokens the prompts of candidates take before any item is filled in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from burnish.app.report.html.markup import as_text
from burnish.domain import Candidate, Configuration
from burnish.models import count_tokens


def prompt_tokens(candidates: Iterable[Candidate]) -> dict[str, int]:
    """Tokens of all sections and examples by candidate id; equal texts are counted once."""
    known: dict[str, int] = {}

    def size(text: str) -> int:
        if text not in known:
            known[text] = count_tokens(text)
        return known[text]

    return {one.id: sum(map(size, _texts(one.configuration))) for one in candidates}


def _texts(configuration: Configuration) -> Iterator[str]:
    yield from configuration.sections.values()
    for example in configuration.examples:
        for value in example.values():
            yield as_text(value)
