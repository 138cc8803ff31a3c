"""Rows that stand for the others: one of each cluster by embeddings, or unlike ones by words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from burnish.domain import UsageError

if TYPE_CHECKING:
    from burnish.models.local.embeddings import Array, Embedder

CLUSTERING = WORDS, EMBEDDINGS = "words", "embeddings"
_ROUNDS = 50


def choose(texts: Sequence[str], number: int, first: int, by: str | None) -> tuple[list[int], str]:
    """Places in order, beginning the search at the first, and by what they were chosen.

    Without a wish embeddings are used where they can be, and words elsewhere.
    """
    embedder = None if by == WORDS else _embedder(needed=by == EMBEDDINGS)
    if embedder is None:
        return by_words(texts).choose(number, first), WORDS
    return by_embeddings(texts, embedder).choose(number, first), f"{EMBEDDINGS} of {embedder.name}"


def open_embedder() -> Embedder:
    """The extra is loaded only where it is used."""
    from burnish.models.local import embeddings  # noqa: PLC0415

    return embeddings.open_embedder()


def _embedder(*, needed: bool) -> Embedder | None:
    try:
        return open_embedder()
    except UsageError:
        if needed:
            raise
        return None


@dataclass(frozen=True, slots=True)
class Clustering:
    """How all rows are like one (by its place), and which rows stand for the others."""

    likeness: Callable[[int], list[float]]
    middles: Callable[[list[int]], list[int]] = sorted

    def choose(self, number: int, first: int) -> list[int]:
        """So many places in order; the search begins at the first."""
        return sorted(self.middles(_unlike(number, first, self.likeness)))


def by_words(texts: Sequence[str]) -> Clustering:
    """Rows whose words are unlike each other."""
    from rapidfuzz import fuzz  # noqa: PLC0415 - only this way of sampling needs it

    return Clustering(lambda place: [fuzz.token_set_ratio(texts[place], one) for one in texts])


def by_embeddings(texts: Sequence[str], embedder: Embedder) -> Clustering:
    """The row in the middle of each cluster of vectors."""
    vectors = embedder.embed(texts)
    return Clustering(
        lambda place: (vectors @ vectors[place]).tolist(), lambda seeds: _middles(vectors, seeds)
    )


def _unlike(number: int, first: int, likeness: Callable[[int], list[float]]) -> list[int]:
    """Each next one is farthest from those before; `likeness` is that of all rows to one."""
    chosen, nearest = [first], likeness(first)
    while len(chosen) < number:
        taken = set(chosen)
        free = (place for place in range(len(nearest)) if place not in taken)
        chosen.append(min(free, key=lambda place: (nearest[place], place)))
        nearest = list(map(max, nearest, likeness(chosen[-1])))
    return chosen


def _middles(vectors: Array, seeds: list[int]) -> list[int]:
    """The row nearest to the centre of each cluster, by k-means that begins at the seeds."""
    import numpy as np  # noqa: PLC0415 - an extra

    centres = vectors[seeds]
    own = (vectors @ centres.T).argmax(axis=1)
    for _ in range(_ROUNDS):
        sums = [vectors[own == one].sum(axis=0) for one in range(len(seeds))]
        lengths = [float(np.linalg.norm(one)) for one in sums]
        # A cluster that has lost all its rows stays where it was.
        found = [
            one / length if length else centre
            for one, length, centre in zip(sums, lengths, centres, strict=True)
        ]
        centres, before = np.stack(found), own
        own = (vectors @ centres.T).argmax(axis=1)
        if (own == before).all():
            break
    chosen: list[int] = []
    for number, near in enumerate((vectors @ centres.T).T):
        near[own != number] -= 2
        near[chosen] = -np.inf
        chosen.append(int(near.argmax()))
    return chosen
