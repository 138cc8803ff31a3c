"""Rows sampled by cluster: by embeddings where they can be had, by words elsewhere."""

import pytest

from burnish.domain import UsageError
from burnish.integrations.imports.traces import Selection, Trace, clusters, select_rows

np = pytest.importorskip("numpy", reason="numpy comes with the extra embeddings")

TOPICS = ("card", "order", "weather")
TRACES = [
    Trace(id=f"{topic}{n}", tool="otlp", input=f"{topic} question {n}")
    for n in range(6)
    for topic in TOPICS
]


class Topics:
    """Texts of one topic lie close together; the third of each is in the middle."""

    name = "fake"

    def embed(self, texts):
        rows = []
        for text in texts:
            row = [float(topic in text) for topic in TOPICS] + [0.05 * (int(text[-1]) - 2.6)]
            rows.append(np.array(row) / np.linalg.norm(row))
        return np.stack(rows)


def missing():
    raise UsageError(what="no", why="not here", fix="pull it", code="model_missing")


def sample(number=3, **given):
    return select_rows(TRACES, Selection(sample=number, sample_by="cluster", **given))


@pytest.mark.parametrize("seed", range(5))
def test_the_middle_of_each_cluster_is_taken_and_told(monkeypatch, seed):
    monkeypatch.setattr(clusters, "open_embedder", Topics)

    found = sample(seed=seed)

    assert [row["id"] for row in found.rows] == ["card3", "order3", "weather3"]
    assert found.clustered_by == "embeddings of fake"
    told = {"tool": "otlp", "trace": "card3", "time": None, "clustered_by": "embeddings of fake"}
    assert found.rows[0]["source"] == told
    assert sample(seed=seed) == found


def test_more_rows_than_clusters_are_different_ones(monkeypatch):
    monkeypatch.setattr(clusters, "open_embedder", Topics)
    monkeypatch.setattr(Topics, "embed", lambda self, texts: np.ones((len(texts), 1)))

    assert len({row["id"] for row in sample(10).rows}) == 10


def test_without_the_model_words_are_used_unless_embeddings_are_asked_for(monkeypatch):
    monkeypatch.setattr(clusters, "open_embedder", missing)

    found = sample()

    assert found.clustered_by == found.rows[0]["source"]["clustered_by"] == "words"
    with pytest.raises(UsageError, match="pull it"):
        sample(cluster_by="embeddings")


def test_words_can_be_asked_for(monkeypatch):
    monkeypatch.setattr(clusters, "open_embedder", Topics)

    assert sample(cluster_by="words").clustered_by == "words"


def test_rows_that_are_all_taken_are_not_clustered(monkeypatch):
    monkeypatch.setattr(clusters, "open_embedder", missing)

    found = sample(100)

    assert found.clustered_by is None
    assert "clustered_by" not in found.rows[0]["source"]
