"""Compression benchmark: Burnish's compression and a plain algorithm in the same simulated worlds."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import burnish
from burnish.benchmarks.worlds.draws import digest, draw, pick, shuffled
from burnish.domain import Configuration, InvariantError
from burnish.models import count_tokens
from burnish.optimizers.compress.optimizer import Compress
from burnish.optimizers.compress.strategies import SectionEdit, largest_first, worthwhile

Answer = Callable[[Mapping[str, str], str], str]
_ITEMS = 40
_ESSENTIAL, _REDUNDANT, _PAIRS = 4, 4, 2
_FLAKY, _HOPELESS = 0.15, 0.10
_FLAKY_PASSES = 0.93
_TALK = (
    "the request arrives with details that a careful reader weighs before deciding on any answer and "
    "every reader knows how previous requests were handled by colleagues who wrote long notes about "
    "each matter so that nothing would be missed when somebody else takes over the same work later"
)
_WORDS = tuple(_TALK.split(" "))


@dataclass(frozen=True, slots=True, kw_only=True)
class Compression:
    """One algorithm in one world. `regressions` are true ones, which no search sees."""

    algorithm: str
    seed: int
    tokens: int
    saved: int
    regressions: int
    evaluations: int


def run_plain(world: CompressWorld, strength: str, *, runs: int) -> Compression:
    """The plain algorithm with one strength of edits."""
    configuration = Configuration.of({"sections": world.sections})
    edits = WorldStrategy(world, (strength,)).edits(configuration, list(world.sections))
    items = [item["id"] for item in world.items]
    sections = plain_compression(world.sections, edits, items, world.answer, runs=runs)
    return _compression(f"plain, {strength}", world, sections, world.calls)


def run_compress(world: CompressWorld, *, runs: int, lines: bool = True) -> Compression:
    """Burnish's `compress`, through the public API, in a database of its own."""

    def run(configuration: Mapping[str, Any], item: Mapping[str, Any]) -> str:
        return world.answer(configuration["sections"], item["name"])

    with tempfile.TemporaryDirectory(prefix="burnish-bench-") as folder:
        result = burnish.optimize(
            agent=burnish.Agent(
                name="prompt",
                configuration={"sections": world.sections},
                run=run,
                version=f"compress:{world.seed}",
                concurrency=1,
            ),
            suite=burnish.Suite(dataset=world.items, scorers=[_score], repeats=runs),
            # The world's items are about nothing that its sections say.
            optimizer=Compress(
                strategies=[WorldStrategy(world)],
                lines=lines,
                min_section_tokens=1,
                drop_untested=True,
            ),
            seed=world.seed,
            db=Path(folder) / "bench.db",
            progress=False,
        )
    if result.evaluations != world.calls:
        raise InvariantError(
            what="the count of evaluations cannot be trusted",
            why=f"the world was called {world.calls} times, Burnish counted {result.evaluations}",
            fix="report it with the command that was run",
        )
    name = "compress" if lines else "compress, sections only"
    return _compression(name, world, result.best.configuration.sections, world.calls)


def _score(output: burnish.AgentOutput, item: Mapping[str, Any]) -> float:
    return float(str(output) == "right")


def _compression(
    algorithm: str, world: CompressWorld, sections: Mapping[str, str], calls: int
) -> Compression:
    tokens = sum(count_tokens(text) for text in world.sections.values())
    return Compression(
        algorithm=algorithm,
        seed=world.seed,
        tokens=tokens,
        saved=tokens - sum(count_tokens(text) for text in sections.values()),
        regressions=world.regressions(sections),
        evaluations=calls,
    )


def plain_compression(
    sections: Mapping[str, str],
    edits: Sequence[SectionEdit],
    items: Sequence[str],
    answer: Answer,
    *,
    runs: int,
) -> Mapping[str, str]:
    """The algorithm; one edit a section. The sections that it comes to."""

    def passed(chosen: Sequence[SectionEdit]) -> frozenset[str]:
        under = {**sections, **{edit.path: edit.proposed_body for edit in chosen}}
        each = [
            frozenset(item for item in items if answer(under, item) == "right") for _ in range(runs)
        ]
        return frozenset.intersection(*each)

    gate = passed([])
    alone = [edit for edit in edits if not gate - passed([edit])]
    chosen = alone
    if len(alone) > 1 and gate - passed(alone):
        chosen = []
        for edit in sorted(alone, key=lambda one: -one.token_reduction):
            if not gate - passed([*chosen, edit]):
                chosen = [*chosen, edit]
    return {**sections, **{edit.path: edit.proposed_body for edit in chosen}}


@dataclass(frozen=True, slots=True)
class Part:
    """One section: its text, two shorter ones, and the code word that items may need of it."""

    path: str
    kind: str
    partner: str
    text: str
    light: str
    hard: str
    word: str


class CompressWorld:
    """One prompt and its items, of which a share is flaky. `calls` counts evaluations."""

    def __init__(self, seed: int, *, flaky: float = _FLAKY) -> None:
        self.seed = seed
        self.flaky = flaky
        self.parts = _parts(seed)
        self.sections = {part.path: part.text for part in self.parts}
        self.items = [{"id": f"i{number:02}", "name": f"i{number:02}"} for number in range(_ITEMS)]
        self.calls = 0
        self._times: Counter[tuple[str, str]] = Counter()
        self._caring = {
            (part.path, item["id"]): self._cares(part, item["id"])
            for part in self.parts
            for item in self.items
        }

    def answer(self, sections: Mapping[str, str], item: str) -> str:
        """`right` or `wrong`; counted, and drawn anew each time where it is not certain."""
        self.calls += 1
        name = digest(*sorted(sections.items()))
        self._times[name, item] += 1
        chance = self.chance(sections, item)
        luck = draw(self.seed, "answer", name, item, self._times[name, item])
        return "right" if luck < chance else "wrong"

    def chance(self, sections: Mapping[str, str], item: str) -> float:
        """How likely an item passes: the truth that no search sees."""
        if draw(self.seed, "hopeless", item) < _HOPELESS:
            return 0.0
        if self._broken(sections, item):
            return 0.0
        return _FLAKY_PASSES if draw(self.seed, "flaky", item) < self.flaky else 1.0

    def regressions(self, sections: Mapping[str, str]) -> int:
        """Items that the prompt as it was given passes and this one never does."""
        return sum(
            self.chance(self.sections, item["id"]) > 0 and self.chance(sections, item["id"]) == 0
            for item in self.items
        )

    def _broken(self, sections: Mapping[str, str], item: str) -> bool:
        for part in self.parts:
            if not self._caring[part.path, item]:
                continue
            said = part.word in sections[part.path]
            if part.kind == "essential" and not said:
                return True
            other = self._partner(part)
            if other is None:
                continue
            if part.kind == "substitutable" and not said and other.word not in sections[other.path]:
                return True
            clash = all(_short(one) in sections[one.path] for one in (part, other))
            if part.kind == "conflicting" and clash:
                return True
        return False

    def _cares(self, part: Part, item: str) -> bool:
        """Some parts matter to many items, some to few; to one at least."""
        name = min(part.path, part.partner or part.path)
        share = 0.06 + 0.25 * draw(self.seed, "share", name) ** 2
        certain = pick([one["id"] for one in self._solid], self.seed, "certain", name)
        return item == certain or draw(self.seed, "cares", name, item) < share

    @cached_property
    def _solid(self) -> list[dict[str, str]]:
        """Items that always pass: what breaks one of them is seen by everybody."""
        return [
            item
            for item in self.items
            if draw(self.seed, "hopeless", item["id"]) >= _HOPELESS
            and draw(self.seed, "flaky", item["id"]) >= _FLAKY
        ]

    def _partner(self, part: Part) -> Part | None:
        return next((one for one in self.parts if one.path == part.partner), None)


class WorldStrategy:
    """The world's own shorter texts, for every algorithm alike."""

    name = "world"
    min_section_tokens = 1

    def __init__(self, world: CompressWorld, strengths: Sequence[str] = ("light", "hard")) -> None:
        self._parts = {part.path: part for part in world.parts}
        self._strengths = strengths

    async def propose(
        self, configuration: Configuration, paths: Sequence[str]
    ) -> Sequence[SectionEdit]:
        """Edits of these sections."""
        return self.edits(configuration, paths)

    def edits(self, configuration: Configuration, paths: Sequence[str]) -> list[SectionEdit]:
        """The same, for who has no event loop."""
        found: list[SectionEdit] = []
        for path, text in largest_first(configuration, paths, self.min_section_tokens):
            texts = [(one, getattr(self._parts[path], one)) for one in self._strengths]
            found += worthwhile(path, text, texts, strategy=self.name)
        return found


def _parts(seed: int) -> list[Part]:
    kinds = ["essential"] * _ESSENTIAL + ["redundant"] * _REDUNDANT
    kinds += ["substitutable"] * 2 * _PAIRS + ["conflicting"] * 2 * _PAIRS
    names = [f"s{number:02}" for number in range(len(kinds))]
    partners = dict.fromkeys(names, "")
    for kind in ("substitutable", "conflicting"):
        of_kind = [name for name, one in zip(names, kinds, strict=True) if one == kind]
        for first, second in zip(of_kind[::2], of_kind[1::2], strict=True):
            partners[first], partners[second] = second, first
    made = [
        _part(seed, name, kind, partners[name]) for name, kind in zip(names, kinds, strict=True)
    ]
    return shuffled(made, seed, "order")


def _part(seed: int, path: str, kind: str, partner: str) -> Part:
    word = f"KEY{digest(seed, path)[:6]}"
    number = 3 + int(5 * draw(seed, "sentences", path))
    said = [_sentence(seed, path, index) for index in range(number)]
    needs = kind in ("essential", "substitutable")
    if needs:
        said[int(draw(seed, "place", path) * number)] = f"Mind the rule {word} in all that you do."
    kept = [one for one in said if word in one] or said[:1]
    short = f"Note SHORT{word}." if kind == "conflicting" else "As usual."
    light = [*kept, said[-1]] if said[-1] not in kept else kept
    light_clashes = kind == "conflicting" and draw(seed, "clash", path) < 0.5
    return Part(
        path=path,
        kind=kind,
        partner=partner,
        text=" ".join(said),
        light=" ".join([*light, short] if light_clashes else light),
        hard=short,
        word=word,
    )


def _sentence(seed: int, path: str, index: int) -> str:
    length = 7 + int(9 * draw(seed, "length", path, index))
    words = [pick(_WORDS, seed, "word", path, index, place) for place in range(length)]
    return " ".join(words).capitalize() + "."


def _short(part: Part) -> str:
    return f"SHORT{part.word}"
