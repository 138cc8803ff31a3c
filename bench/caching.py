"""Prompt caching: share of cached tokens with a provider that keeps how prompts begin, as OpenAI does.

Beginnings of 1,024 tokens and more are kept, 128 at a time. Through it go all prompts of evaluations
of three wordings over the same items, with a judge and two rounds of refinement.
"""

from __future__ import annotations

import tempfile
from bisect import insort
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import burnish
from bench.results import Section
from burnish.domain import ModelRequest, ModelResponse, Spending, Usage, text_hash
from burnish.evaluation.refine import refiner
from burnish.evaluation.scorers import judge
from burnish.models.tokens import count_tokens

ITEMS, WORDINGS, ROUNDS = 20, 3, 2
LEAST, STEP = 1024, 128
READ, CACHED, WRITTEN = 2.5, 1.25, 10.0


class PrefixCache:
    """A model whose provider has what earlier prompts began with, and sells it for half."""

    def __init__(self, name: str) -> None:
        self.name = self.fingerprint = name
        self._seen: list[str] = []

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """A verdict, a better output or an answer, after what the prompt asks for."""
        prompt = "\n".join(f"{one.role}: {one.content}" for one in request.messages)
        text = _answer(prompt)
        read, written = count_tokens(prompt), count_tokens(text)
        known = min(self._known(prompt), read)
        cost = ((read - known) * READ + known * CACHED + written * WRITTEN) / 1e6
        return ModelResponse(
            text=text,
            usage=Usage(
                calls=1,
                input_tokens=read,
                output_tokens=written,
                cached_tokens=known,
                cost_usd=cost,
            ),
        )

    async def close(self) -> None:
        """Nothing is held."""

    def _known(self, prompt: str) -> int:
        """Tokens at the beginning that an earlier prompt had; its neighbours in order share most."""
        insort(self._seen, prompt)
        place = self._seen.index(prompt)
        others = self._seen[max(place - 1, 0) : place] + self._seen[place + 1 : place + 2]
        tokens = count_tokens(prompt[: max((shared(prompt, one) for one in others), default=0)])
        return tokens // STEP * STEP if tokens >= LEAST else 0


def shared(one: str, other: str) -> int:
    """Characters that both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def _answer(prompt: str) -> str:
    if prompt.startswith("system: You judge"):
        return '{"score": 0.4, "reason": "It could say more.", "pass": false}'
    kind = "Revised" if prompt.startswith("system: You revise") else "First"
    return f"{kind} answer {text_hash(prompt)[:8]}."


def measured(*, items: int = ITEMS, wordings: int = WORDINGS, words: int = 1500) -> Spending:
    """What evaluating the wordings took, by purpose."""
    model = PrefixCache("openai-like")
    rows = [
        {"id": f"d{n}", "document": " ".join(f"fact {n} {k}" for k in range(words // 3))}
        for n in range(items)
    ]
    spent = Spending()
    for number in range(wordings):
        sections = {"system": f"Summarise. Wording {number}.", "user": "{{document}}"}
        with tempfile.TemporaryDirectory() as folder:
            result = burnish.evaluate(
                burnish.Agent(model=model, configuration={"sections": sections}, concurrency=1),
                burnish.Suite(
                    dataset=rows,
                    scorers=[{"kind": "judge", "model": model, "criteria": "It is complete."}],
                    refine={"model": model, "limit": ROUNDS},
                ),
                db=Path(folder) / "caching.db",
                progress=False,
            )
        spent += result.summary.spending
    return spent


@contextmanager
def one_mark() -> Iterator[None]:
    """Prompts as they were before: one mark, of all parts, on the first line."""

    def fenced(parts: Sequence[tuple[str, str]]) -> str:
        mark = text_hash("\x00".join(text for part in parts for text in part))[:16]
        return "\n\n".join(f"<<<{title} {mark}\n{text}\n{title} {mark}>>>" for title, text in parts)

    with mock.patch.object(judge, "fenced", fenced), mock.patch.object(refiner, "fenced", fenced):
        yield


def run() -> Section:
    """Both layouts, by purpose."""
    with one_mark():
        before = measured()
    after = measured()
    rows: list[list[object]] = []
    for name in ("agent", "judge", "refine", "all"):
        old, new = (
            one.total if name == "all" else one.by_purpose.get(name, Usage())
            for one in (before, after)
        )
        rows.append(
            [
                name,
                f"{new.input_tokens:,}",
                f"{old.cached_share or 0:.1%}",
                f"{new.cached_share or 0:.1%}",
                f"${old.cost_usd or 0:.4f}",
                f"${new.cost_usd or 0:.4f}",
            ]
        )
    return Section(
        name="caching",
        title="Prompt caching: stable beginnings of prompts",
        command="python -m bench caching",
        columns=["", "tokens in", "cached before", "cached after", "cost before", "cost after"],
        rows=rows,
        notes=[
            f"{ITEMS} items of about 2,500 tokens under {WORDINGS} wordings of a prompt, each with a "
            f"judge and {ROUNDS} rounds of refinement. The fake provider keeps beginnings from "
            f"{LEAST:,} tokens on, {STEP} at a time, and sells them for half.",
            "Before: all parts of a judge's and a refiner's material carried one mark, made of all of "
            "them, on the first line. Now a part's mark comes from it and those before it. The "
            "agent's prompt is the user's own and is laid out as it is written.",
        ],
    )
