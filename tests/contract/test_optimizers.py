"""Optimizers, built in and of another package: the contract."""

import sys
from pathlib import Path

import pytest

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


class TestThirdParty(OptimizerContract):
    @pytest.fixture
    def make_optimizer(self, monkeypatch):
        monkeypatch.syspath_prepend(EXAMPLE)
        from burnish_shouting import Shouting  # noqa: PLC0415 - the example's own folder

        yield Shouting
        sys.modules.pop("burnish_shouting", None)
