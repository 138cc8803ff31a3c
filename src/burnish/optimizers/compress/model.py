"""Compression by a model that rewrites sections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from burnish.domain import Configuration, Model, placeholders
from burnish.optimizers.compress.edits import (
    DEFAULT_MIN_TOKENS,
    SectionEdit,
    largest_first,
    worthwhile,
)
from burnish.optimizers.shared.asking import Asker
from burnish.optimizers.shared.cleaning import extract_text
from burnish.optimizers.shared.fences import fence

_STRENGTHS = {
    "light": "Say the same in fewer words. Keep every instruction, number, name and format.",
    "firm": "Use about half of the words. Keep every instruction, number, name and format; drop "
    "repetition, politeness, reasons and illustrations.",
    "hard": "Use as few words as you can, telegram style. Keep what decides which answer is right, "
    "and nothing else.",
}


class LLMCompressStrategy:
    """Asks a model for `light`, `firm` and `hard` rewrites of each section, largest first.

    `model` is a name, a Model or a function from text to text.
    """

    name = "model"

    def __init__(self, model: Any, *, min_section_tokens: int = DEFAULT_MIN_TOKENS) -> None:
        self.min_section_tokens = min_section_tokens
        self._asker = Asker(model)

    def connect(self, open_model: Callable[[Any], Model]) -> None:
        """Open the model so that its calls are counted."""
        self._asker.connect(open_model)

    async def propose(
        self, configuration: Configuration, paths: Sequence[str]
    ) -> Sequence[SectionEdit]:
        """Edits of these sections; answers that are no shorter text are left out."""
        chosen = largest_first(configuration, paths, self.min_section_tokens)
        questions = [
            (path, text, strength, _question(path, text, wish))
            for path, text in chosen
            for strength, wish in _STRENGTHS.items()
        ]
        answers = await self._asker.ask_all([question for *_, question in questions])
        found: list[SectionEdit] = []
        for path, text in chosen:
            texts = [
                (strength, extract_text(answer, current=text) or "")
                for (asked, _, strength, _), answer in zip(questions, answers, strict=True)
                if asked == path
            ]
            found += worthwhile(path, text, texts, strategy=self.name)
        return found


def _question(path: str, text: str, wish: str) -> str:
    names = sorted(set(placeholders(text)))
    kept = ", ".join(f"{{{{{name}}}}}" for name in names)
    rules = f"Keep the placeholders {kept} exactly as they are. " if names else ""
    return (
        f"You shorten the instructions of an assistant without changing what it does. The section "
        f"`{path}` reads:\n\n{fence(text)}\n\n{wish} {rules}Answer with the shortened section only, "
        "between two lines of ```."
    )
