"""Rounds of refined outputs in memory: the simplest reading of the contract."""

import pytest
from tests.support.memory_experiments import MemoryExperimentRepository

from burnish.testing.experiment_contract import ExperimentRoundsContract


class TestRounds(ExperimentRoundsContract):
    @pytest.fixture
    def experiments(self):
        return MemoryExperimentRepository()
