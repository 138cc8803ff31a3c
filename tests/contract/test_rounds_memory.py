"""Rounds of refined outputs in memory: the simplest reading of the contract."""

import pytest

from burnish.testing.experiment_rounds_contract import ExperimentRoundsContract
from burnish.testing.memory_experiments import MemoryExperimentRepository


class TestRounds(ExperimentRoundsContract):
    @pytest.fixture
    def experiments(self):
        return MemoryExperimentRepository()
