"""Scripted image model and judge: pictures, verdicts, delays and failures written down before."""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from burnish.domain import BurnishError, Clock, SystemClock, Usage
from burnish.domain.images.protocols import DrawnImage, Judgement, PictureChoice
from burnish.domain.images.runs import Constraints, ObjectivePreset, Quality, Rubric

Failures = Mapping[int | str, BurnishError]


@dataclass(kw_only=True, eq=False)
class _Script:
    """What the two share: counts, delays, failures.

    `failures` are by the call's number, from 1 up over all calls, or by a piece of the prompt.
    """

    name: str
    latency_seconds: float = 0.0
    failures: Failures | None = None
    cost_usd: float = 0.0
    clock: Clock | None = None
    calls: int = field(default=0, init=False)
    in_flight: int = field(default=0, init=False)
    most_in_flight: int = field(default=0, init=False)
    closed: bool = field(default=False, init=False)
    calls_by_prompt: Counter[str] = field(default_factory=Counter, init=False)

    @property
    def label(self) -> str:
        """The name as people read it."""
        return f"{self.name} (scripted, for tests)"

    async def play(self, prompt: str) -> Usage:
        """Take the call's time, then fail as written or say what it cost."""
        self.calls += 1
        number = self.calls
        self.calls_by_prompt[prompt] += 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            if self.latency_seconds > 0:
                await (self.clock or SystemClock()).sleep(self.latency_seconds)
        finally:
            self.in_flight -= 1
        for rule, error in (self.failures or {}).items():
            if rule == number or (isinstance(rule, str) and rule in prompt):
                raise error
        return Usage(calls=1, cost_usd=self.cost_usd)

    async def close(self) -> None:
        """Note that it was closed."""
        self.closed = True


@dataclass(kw_only=True, eq=False)
class ScriptedImageModel(_Script):
    """Draws one flat colour a prompt, at once unless told; safe to call from many tasks.

    `picture` gives other bytes for a prompt, such as ones that are no picture. `edits` counts the
    calls that had a base, and `bases` keeps those bases in order.
    """

    name: str = "scripted-images"
    picture: Callable[[str], bytes] | None = None
    edits: int = field(default=0, init=False)
    bases: list[bytes] = field(default_factory=list, init=False)

    async def generate(self, prompt: str, *, quality: Quality) -> DrawnImage:
        """The picture that is written down for the prompt."""
        usage = await self.play(prompt)
        return DrawnImage(data=(self.picture or flat_picture)(prompt), usage=usage)

    async def edit(self, base: bytes, prompt: str, *, quality: Quality) -> DrawnImage:
        """The same; the base is only remembered."""
        self.edits += 1
        self.bases.append(base)
        return await self.generate(prompt, quality=quality)


@dataclass(kw_only=True, eq=False)
class ScriptedImageJudge(_Script):
    """Gives the rubric that `verdict` says for a prompt; unless told, one drawn from its hash.

    Of two pictures it prefers the one that `winner` says, unless told that of the larger hash.
    """

    name: str = "scripted-judge"
    verdict: Callable[[str], Rubric] | None = None
    winner: Callable[[bytes, bytes], Literal["A", "B", "tie"]] | None = None
    choices: int = field(default=0, init=False)

    async def judge(
        self,
        image: bytes,
        prompt: str,
        *,
        objective: ObjectivePreset,
        constraints: Constraints,
    ) -> Judgement:
        """The rubric that is written down for the prompt."""
        usage = await self.play(prompt)
        return Judgement(rubric=(self.verdict or drawn_rubric)(prompt), usage=usage)

    async def choose(
        self,
        first: bytes,
        second: bytes,
        prompt: str,
        *,
        objective: ObjectivePreset,
        constraints: Constraints,
    ) -> PictureChoice:
        """The winner that is written down for the two."""
        self.choices += 1
        usage = await self.play(prompt)
        winner = (self.winner or larger_hash)(first, second)
        return PictureChoice(winner=winner, reason="as scripted", usage=usage)


def flat_picture(prompt: str, *, side: int = 16) -> bytes:
    """A PNG of one colour, which the prompt's hash gives; made without Pillow."""
    row = b"\x00" + hashlib.sha256(prompt.encode()).digest()[:3] * side
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(row * side)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def larger_hash(first: bytes, second: bytes) -> Literal["A", "B", "tie"]:
    """The same of two pictures in either order."""
    a, b = (hashlib.sha256(one).digest() for one in (first, second))
    return "tie" if a == b else "A" if a > b else "B"


def drawn_rubric(prompt: str) -> Rubric:
    """Numbers from the prompt's hash, all good ones, none alike."""
    numbers = [0.5 + byte / 512 for byte in hashlib.sha256(prompt.encode()).digest()[:6]]
    return Rubric(
        prompt_adherence=numbers[0],
        subject_fidelity=numbers[1],
        composition_quality=numbers[2],
        style_coherence=numbers[3],
        technical_artifact_penalty=numbers[4] - 0.5,
        confidence=numbers[5],
        strength_tags=("scripted",),
        rationale="drawn from the prompt's hash",
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
