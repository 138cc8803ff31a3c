"""Simulated agents: edits have effects of their own, effects together, and some lead to collapse.

Nothing here knows how the optimizers search. Every draw is hashed from the world's seed and names, so
a candidate scores the same whenever it is run; answers on items are binary and noisy.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations

from burnish.domain import Candidate, Configuration, SearchSpace
from burnish.optimizers.edits.edit_catalog import EditCatalog
from burnish.optimizers.shared.facts import RunFacts

REVIEWS = Configuration.of(
    {
        "sections": {
            "system": "Classify the sentiment of the movie review.",
            "user": "{{review}}",
        },
        "parameters": {"temperature": 0.0},
    }
)
LABELS = ("positive", "negative")


def facts_of(
    baseline: Configuration, labels=(), space: SearchSpace | None = None, **more
) -> RunFacts:
    given = {"seed": 1, "baseline_score": 0.6, "places": 4, **more}
    return RunFacts(
        baseline_candidate_id="c-0",
        baseline=baseline,
        space=space or SearchSpace(),
        labels=tuple(labels),
        **given,
    )


@dataclass(frozen=True, eq=False)
class EditWorld:
    """A labelled task whose accuracy depends on the edits by rules that are drawn once.

    With `promise` 0 the world knows nothing of what usually helps; with 2 what usually helps tends
    to help here too, about as much as it did on a real small model.
    """

    seed: int
    baseline: Configuration = REVIEWS
    labels: tuple[str, ...] = LABELS
    start: float = 0.62
    ceiling: float = 0.86
    pairs: float = 0.1
    collapse: float = 0.25
    promise: float = 0.0

    def __call__(self, candidate: Candidate, item: str) -> tuple[float, str]:
        names = () if candidate.number == 0 else self.catalog.names_of(candidate)
        right = self.labels[_hashed(self.seed, "label", item) < 0.5]
        wrong = self.labels[1 - self.labels.index(right)]
        if self.collapses(names):
            said = self.labels[0]
        else:
            # Items differ in how hard they are, and wordings in which items they get.
            hard = _hashed(self.seed, "hard", item)
            luck = _hashed(self.seed, "luck", item, *names)
            said = right if 0.7 * hard + 0.3 * luck < self._cut(names) else wrong
        return float(said == right), said

    @cached_property
    def catalog(self) -> EditCatalog:
        return EditCatalog.of(facts_of(self.baseline, self.labels))

    def accuracy(self, names: tuple[str, ...]) -> float:
        """The expected score, without the noise of items."""
        return 0.5 if self.collapses(names) else self._level(names)

    def collapses(self, names: tuple[str, ...]) -> bool:
        return abs(sum(self._bias(name) for name in names)) > 1.0

    @cached_property
    def best(self) -> float:
        """The highest expected score that a long search with full knowledge finds."""
        chance = random.Random(f"best:{self.seed}")
        names = list(self.catalog.edits)
        best = self.start
        for _ in range(12):
            here: tuple[str, ...] = ()
            for _ in range(60):
                moved = self.catalog.with_edit(here, chance.choice(names))
                if chance.random() < 0.2 and here:
                    moved = tuple(one for one in here if one != chance.choice(here))
                if len(moved) <= 6 and self.accuracy(moved) >= self.accuracy(here):
                    here = moved
            best = max(best, self.accuracy(here))
        return best

    def _level(self, names: tuple[str, ...]) -> float:
        gain = sum(self._effect(name) for name in names)
        gain += sum(self._together(a, b) for a, b in combinations(sorted(names), 2))
        return min(max(self.start + gain, 0.2), self.ceiling)

    @cache  # noqa: B019 - worlds are few
    def _cut(self, names: tuple[str, ...]) -> float:
        """The point below which 0.7 of a uniform draw and 0.3 of another lie with this chance."""
        level = self._level(names)
        edge = 0.3 / 2 / 0.7
        if level > 1 - edge:
            return 1 - math.sqrt(2 * 0.3 * 0.7 * (1 - level))
        if level < edge:
            return math.sqrt(2 * 0.3 * 0.7 * level)
        return 0.7 * level + 0.15

    @cache  # noqa: B019 - worlds are few
    def _effect(self, name: str) -> float:
        family = name.split(":", 1)[0]
        chance = random.Random(f"family:{self.seed}:{family}")
        active = chance.random() < 0.5
        shared = chance.gauss(0.03, 0.04) if active else 0.0
        own = random.Random(f"edit:{self.seed}:{name}").gauss(-0.01, 0.04 if active else 0.015)
        return shared + own + self.promise * self.catalog.edits[name].promise

    @cache  # noqa: B019 - worlds are few
    def _together(self, first: str, second: str) -> float:
        chance = random.Random(f"pair:{self.seed}:{first}:{second}")
        return chance.gauss(0.0, 0.04) if chance.random() < self.pairs else 0.0

    @cache  # noqa: B019 - worlds are few
    def _bias(self, name: str) -> float:
        chance = random.Random(f"bias:{self.seed}:{name}")
        return chance.gauss(0.0, 0.9) if chance.random() < self.collapse else 0.0


@cache
def _hashed(*parts: object) -> float:
    return random.Random("\x1f".join(str(part) for part in parts)).random()
