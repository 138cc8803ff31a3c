"""The example repository and the example adapter keep to the contracts that they show."""

import importlib.util
import threading
from pathlib import Path

import pytest

import burnish
from burnish.testing.adapter_contract import ExperimentAdapterContract
from burnish.testing.optimization_contract import OwnRepositoryContract

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class TestMemoryRepository(OwnRepositoryContract):
    @pytest.fixture
    def optimizations(self):
        return example("own_repository").MemoryRepository()


class TestQueueAdapter(ExperimentAdapterContract):
    configuration = burnish.Configuration.of({"sections": {"system": "Read {{text}}"}})
    items = tuple(
        burnish.Item(id=f"i{n}", data={"difficulty": n / 4, "expected": "right"}) for n in range(4)
    )

    @pytest.fixture
    def adapter(self):
        module = example("own_adapter")
        made = module.QueueAdapter()
        threading.Thread(target=module.work, args=(made,), daemon=True).start()
        return made
