"""Embeddings of texts by all-MiniLM-L6-v2, computed with numpy as sentence-transformers does."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from burnish.domain import UsageError
from burnish.models.local.pull import known_model, path_of

NAME = "all-minilm-l6-v2"

try:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer
except ImportError as error:
    raise UsageError(
        what="texts cannot be embedded",
        why=f"{error.name} is not installed",
        fix=f"pip install 'burnish[embeddings]', then: burnish models pull {NAME}",
        code="missing_extra",
    ) from error

_HEADS = 12
Array: TypeAlias = NDArray[np.float32]
Weights: TypeAlias = Mapping[str, Array]


class Embedder:
    """Vectors of length 1. Each text goes alone, so its vector hangs on no other text."""

    name = NAME

    def __init__(self, file: Path, *, tokens: int, heads: int = _HEADS) -> None:
        self.weights, tokenizer = read_weights(file.read_bytes())
        self._heads = heads
        self._tokenizer = Tokenizer.from_str(tokenizer.decode())
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(tokens)

    def embed(self, texts: Sequence[str]) -> Array:
        """A row of the matrix for each text."""
        encoded = (self._tokenizer.encode(text).ids for text in texts)
        return np.stack([forward(self.weights, ids, self._heads) for ids in encoded])


def open_embedder() -> Embedder:
    """The model that was pulled; an error that says how to get what is missing."""
    return Embedder(path_of(NAME, embeds=True), tokens=known_model(NAME).context_tokens)


def read_weights(content: bytes) -> tuple[dict[str, Array], bytes]:
    """The tensors of a safetensors file, and what stands behind them in it."""
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    header.pop("__metadata__", None)
    end = start + max(one["data_offsets"][1] for one in header.values())
    weights: dict[str, Array] = {
        name: np.frombuffer(
            content, "<f4", math.prod(one["shape"]), start + one["data_offsets"][0]
        ).reshape(one["shape"])
        for name, one in header.items()
        if one["dtype"] == "F32"
    }
    return weights, content[end:]


def forward(weights: Weights, ids: Sequence[int], heads: int) -> Array:
    """BERT's layers over the tokens of one text, their mean, of length 1."""
    words, places, kinds = (
        weights[f"embeddings.{one}_embeddings.weight"] for one in ("word", "position", "token_type")
    )
    start = words[list(ids)] + places[: len(ids)] + kinds[0]
    state = _normal(weights, "embeddings.LayerNorm", start)
    layer = 0
    while f"encoder.layer.{layer}.output.dense.weight" in weights:
        at = f"encoder.layer.{layer}"
        seen = _linear(weights, f"{at}.attention.output.dense", _attend(weights, at, state, heads))
        state = _normal(weights, f"{at}.attention.output.LayerNorm", state + seen)
        inner = gelu(_linear(weights, f"{at}.intermediate.dense", state))
        grown = state + _linear(weights, f"{at}.output.dense", inner)
        state = _normal(weights, f"{at}.output.LayerNorm", grown)
        layer += 1
    mean: Array = state.mean(axis=0)
    return mean / np.float32(np.linalg.norm(mean))


def _attend(weights: Weights, at: str, state: Array, heads: int) -> Array:
    query, key, value = (
        _linear(weights, f"{at}.attention.self.{one}", state)
        .reshape(len(state), heads, -1)
        .swapaxes(0, 1)
        for one in ("query", "key", "value")
    )
    scores = query @ key.swapaxes(1, 2) / np.float32(math.sqrt(query.shape[-1]))
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    seen: Array = shares / shares.sum(axis=-1, keepdims=True) @ value
    return seen.swapaxes(0, 1).reshape(state.shape)


def _linear(weights: Weights, name: str, given: Array) -> Array:
    return given @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def _normal(weights: Weights, name: str, given: Array) -> Array:
    spread = np.sqrt(given.var(axis=-1, keepdims=True) + np.float32(1e-12))
    scaled: Array = (given - given.mean(axis=-1, keepdims=True)) / spread
    return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def gelu(given: Array) -> Array:
    """By the normal distribution, whose erf is that of Abramowitz and Stegun 7.1.26 (to 1.5e-7)."""
    size = np.abs(given) / np.float32(math.sqrt(2))
    t = 1 / (1 + np.float32(0.3275911) * size)
    terms = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
    series = sum(np.float32(one) * t ** (n + 1) for n, one in enumerate(terms))
    erf = np.sign(given) * (1 - series * np.exp(-size * size))
    half: Array = given * np.float32(0.5) * (1 + erf)
    return half
