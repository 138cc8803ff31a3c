"""Optimizers, built in and of another package: the contract."""

import sys
import zlib
from pathlib import Path

import pytest

from burnish.models import as_model
from burnish.optimizers import build_optimizer
from burnish.testing.optimizer_contract import OptimizerContract

EXAMPLE = Path(__file__).parents[2] / "examples" / "third_party_optimizer"


class TestEdits(OptimizerContract):
    @pytest.fixture
    def make_optimizer(self):
        return lambda: build_optimizer("edits", {})


class TestRandomSearch(OptimizerContract):
    @pytest.fixture
    def make_optimizer(self):
        return lambda: build_optimizer("random", {})


class TestGridSearch(OptimizerContract):
    @pytest.fixture
    def make_optimizer(self):
        return lambda: build_optimizer("grid", {"steps": 7})


class TestEvolve(OptimizerContract):
    @pytest.fixture
    def make_optimizer(self):
        return lambda: build_optimizer("evolve", {})


class TestFewShot(OptimizerContract):
    @pytest.fixture
    def make_optimizer(self):
        return lambda: build_optimizer("few_shot", {"answer_field": "label"})


class TestJoint(OptimizerContract):
    @pytest.fixture
    def make_optimizer(self):
        return lambda: build_optimizer("joint", {})


class TestGepa(OptimizerContract):
    @pytest.fixture
    def make_optimizer(self):
        return lambda: build_optimizer("gepa", {"model": rewritten, "population_size": 3})

    def open_model(self, wanted):
        return as_model(wanted)


def rewritten(prompt):
    """The current text, which is the first fenced block, with a line that belongs to the prompt."""
    text = prompt.split("```")[1].strip("\n")
    return f"```\n{text}\nMind case {zlib.crc32(prompt.encode())}.\n```"


class TestThirdParty(OptimizerContract):
    @pytest.fixture
    def make_optimizer(self, monkeypatch):
        monkeypatch.syspath_prepend(EXAMPLE)
        from burnish_shouting import Shouting  # noqa: PLC0415 - the example's own folder

        yield Shouting
        sys.modules.pop("burnish_shouting", None)
