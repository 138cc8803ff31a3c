"""`python -m bench clusters FILE…`: rows with labels, clustered by words and by embeddings.

Purity is the share of rows whose label is that of most in their cluster (a row belongs to the one of
the chosen that it is most like); found are the labels among the chosen. Means over ten seeds, as many
clusters as labels.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

from burnish.integrations.imports.traces.clusters import by_embeddings, by_words, open_embedder

_SEEDS = 10


def purity(labels, chosen, likeness):
    """Of the clusters around the chosen rows."""
    near = [likeness(place) for place in chosen]
    own = [max(range(len(chosen)), key=lambda n: near[n][row]) for row in range(len(labels))]
    counts = Counter(zip(own, labels, strict=True))
    most = [max(counts[n, label] for label in set(labels)) for n in range(len(chosen))]
    return sum(most) / len(labels)


def main(files: list[str]) -> None:
    embedder = open_embedder()
    for file in files:
        rows = [json.loads(line) for line in Path(file).read_text("utf-8").splitlines()]
        texts = [" ".join(row["input"].casefold().split()) for row in rows]
        labels = [row["label"] for row in rows]
        number = len(set(labels))
        for name, way in (
            ("words", by_words(texts)),
            ("embeddings", by_embeddings(texts, embedder)),
        ):
            found, pure = 0, 0.0
            for seed in range(_SEEDS):
                chosen = way.choose(number, random.Random(seed).randrange(len(rows)))
                found += len({labels[place] for place in chosen})
                pure += purity(labels, chosen, way.likeness)
            print(
                f"{file}: {len(rows)} rows, {number} clusters by {name}: purity {pure / _SEEDS:.3f}, "
                f"{found / _SEEDS:.1f} of {number} labels found"
            )
