"""The forward pass of the embedding model: against one written out, and against PyTorch's numbers."""

import json
import math

import pytest

from burnish.domain import UsageError
from burnish.models.local.pull import installed

np = pytest.importorskip("numpy", reason="numpy comes with the extra embeddings")
pytest.importorskip("tokenizers", reason="tokenizers comes with the extra embeddings")

from burnish.models.local.embeddings import (  # noqa: E402 - they need what is asked for above
    NAME,
    Embedder,
    forward,
    gelu,
    open_embedder,
    read_weights,
)

SIZE, HEADS, LAYERS = 8, 2, 2
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "where", "is", "it"]
# By transformers' BertModel with torch 2.13.0, mean pooling, normalised: the first six numbers.
REFERENCE = {
    "Where is my order?": [-0.00092, -0.02756, 0.07321, 0.04838, 0.00617, 0.02369],
    "I lost my card.": [-0.03741, 0.06166, 0.03079, 0.06615, 0.03746, 0.00298],
    "  Ünïcode, naïve café — 日本語テキスト \U0001f600 \u200b\x00 end": [
        *(-0.01406, 0.03007, 0.08563, -0.01762, -0.03089, -0.03207)
    ],
}


def tiny_weights():
    draw = np.random.default_rng(7)
    shapes = {f"embeddings.{one}_embeddings": (16, SIZE) for one in ("word", "position")}
    shapes["embeddings.token_type_embeddings"] = (2, SIZE)
    normals = ["embeddings.LayerNorm"]
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}"
        shapes |= {f"{at}.attention.self.{one}": (SIZE, SIZE) for one in ("query", "key", "value")}
        shapes[f"{at}.attention.output.dense"] = (SIZE, SIZE)
        shapes[f"{at}.intermediate.dense"] = (3 * SIZE, SIZE)
        shapes[f"{at}.output.dense"] = (SIZE, 3 * SIZE)
        normals += [f"{at}.attention.output.LayerNorm", f"{at}.output.LayerNorm"]
    weights = {f"{name}.weight": draw.normal(size=shape) for name, shape in shapes.items()}
    weights |= {f"{name}.bias": draw.normal(size=shape[0]) for name, shape in shapes.items()}
    weights |= {f"{name}.weight": 1 + 0.1 * draw.normal(size=SIZE) for name in normals}
    weights |= {f"{name}.bias": draw.normal(size=SIZE) for name in normals}
    return {name: one.astype("<f4") for name, one in weights.items()}


def safetensors(weights):
    header, data = {"__metadata__": {"format": "pt"}}, b""
    everything = {"embeddings.position_ids": np.arange(16, dtype="<i8"), **weights}
    for name, one in everything.items():
        kind = "I64" if one.dtype == np.int64 else "F32"
        end = len(data) + one.nbytes
        header[name] = {"dtype": kind, "shape": one.shape, "data_offsets": [len(data), end]}
        data += one.tobytes()
    head = json.dumps(header).encode()
    return len(head).to_bytes(8, "little") + head + data


def slowly(weights, ids):
    """The same with loops over numbers, in double precision."""

    def linear(name, row):
        found = weights[f"{name}.weight"].astype(float) @ row
        return found + weights[f"{name}.bias"]

    def normal(name, row):
        centred = row - sum(row) / len(row)
        scaled = centred / math.sqrt(sum(centred**2) / len(row) + 1e-12)
        return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    names = ("word", "position", "token_type")
    word, place, kind = (weights[f"embeddings.{one}_embeddings.weight"] for one in names)
    rows = [
        normal("embeddings.LayerNorm", (word[one] + place[n] + kind[0]).astype(float))
        for n, one in enumerate(ids)
    ]
    width = SIZE // HEADS
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}"
        query, key, value = (
            [linear(f"{at}.attention.self.{one}", row) for row in rows]
            for one in ("query", "key", "value")
        )
        after = []
        for n, row in enumerate(rows):
            seen = []
            for head in (slice(h * width, (h + 1) * width) for h in range(HEADS)):
                marks = [math.exp(query[n][head] @ one[head] / math.sqrt(width)) for one in key]
                pairs = zip(marks, value, strict=True)
                seen.extend(sum(mark * one[head] for mark, one in pairs) / sum(marks))
            joined = row + linear(f"{at}.attention.output.dense", np.array(seen))
            joined = normal(f"{at}.attention.output.LayerNorm", joined)
            inner = linear(f"{at}.intermediate.dense", joined)
            inner = np.array([one * 0.5 * (1 + math.erf(one / math.sqrt(2))) for one in inner])
            grown = joined + linear(f"{at}.output.dense", inner)
            after.append(normal(f"{at}.output.LayerNorm", grown))
        rows = after
    mean = sum(rows) / len(rows)
    return mean / math.sqrt(sum(mean**2))


def test_the_layers_are_those_of_bert():
    weights = tiny_weights()

    for ids in ([2, 3], [2, 4, 5, 6, 3], list(range(16))):
        assert forward(weights, ids, HEADS) == pytest.approx(slowly(weights, ids), abs=2e-5)


def test_gelu_is_exact_to_the_precision_of_its_numbers():
    given = np.linspace(-6, 6, 241, dtype=np.float32)

    exact = [one * 0.5 * (1 + math.erf(one / math.sqrt(2))) for one in given.tolist()]

    assert gelu(given) == pytest.approx(exact, abs=3e-6)


def tiny_file(tmp_path):
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": {
            "strategy": {"Fixed": 12},
            "direction": "Right",
            "pad_to_multiple_of": None,
            "pad_id": 0,
            "pad_type_id": 0,
            "pad_token": "[PAD]",
        },
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "unk_token": "[UNK]",
            "vocab": {word: n for n, word in enumerate(VOCABULARY)},
        },
    }
    path = tmp_path / "tiny.embedder"
    path.write_bytes(safetensors(tiny_weights()) + json.dumps(tokenizer).encode())
    return path


def test_a_file_holds_the_weights_and_the_tokenizer_behind_them(tmp_path):
    weights, behind = read_weights(tiny_file(tmp_path).read_bytes())

    assert json.loads(behind)["version"] == "1.0"
    assert "embeddings.position_ids" not in weights
    expected = tiny_weights()
    assert weights.keys() == expected.keys()
    assert all((weights[name] == one).all() for name, one in expected.items())


def test_a_vector_hangs_on_its_text_alone_without_padding_and_cut_to_length(tmp_path):
    embedder = Embedder(tiny_file(tmp_path), tokens=3, heads=HEADS)

    vectors = embedder.embed(["Where is it", "is it", "where is it it it it"])

    expected = [forward(tiny_weights(), ids, HEADS) for ids in ([4, 5, 6], [5, 6], [4, 5, 6])]
    assert vectors.shape == (3, SIZE)
    assert (vectors == np.stack(expected)).all()
    assert (embedder.embed(["is it"])[0] == vectors[1]).all()


def test_a_model_that_is_not_here_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path))

    with pytest.raises(UsageError) as caught:
        open_embedder()

    assert (caught.value.code, caught.value.fix) == (
        "model_missing",
        "run: burnish models pull all-minilm-l6-v2",
    )


@pytest.mark.skipif(NAME not in installed(), reason=f"burnish models pull {NAME} was not run here")
def test_the_pulled_model_gives_pytorchs_numbers():
    found = open_embedder().embed(list(REFERENCE))

    assert found.shape == (3, 384)
    assert found[:, :6] == pytest.approx(np.array(list(REFERENCE.values())), abs=2e-5)
    assert np.linalg.norm(found, axis=1) == pytest.approx(1, abs=1e-5)
