"""Overrides in files: the contract."""

import pytest

from burnish.overrides import LocalPromptOverridesStore
from burnish.testing.overrides_contract import OverridesStoreContract, OverridesWritersContract
from burnish.testing.overrides_refusals_contract import OverridesRefusalsContract


@pytest.fixture
def store(tmp_path):
    return LocalPromptOverridesStore(tmp_path / "overrides")


@pytest.fixture
def another(tmp_path):
    return LocalPromptOverridesStore(str(tmp_path / "overrides"))


@pytest.fixture
def plant(tmp_path):
    async def plant(namespace, key, tag, data):
        folder = tmp_path / "overrides" / namespace / key
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{tag}.json").write_bytes(data)

    return plant


class TestLocalStore(OverridesStoreContract):
    pass


class TestLocalRefusals(OverridesRefusalsContract):
    @pytest.fixture(autouse=True)
    def nothing_beside_the_folder(self, tmp_path):
        yield
        assert {path.name for path in tmp_path.iterdir()} <= {"overrides"}


class TestLocalWriters(OverridesWritersContract):
    pass
