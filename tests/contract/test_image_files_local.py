"""Picture files in a folder: the contract."""

import pytest
from tests.contract.image_files_contract import ImageFilesContract

from burnish.storage import LocalImageFiles


@pytest.fixture
def files(tmp_path):
    return LocalImageFiles(tmp_path / "images")


@pytest.fixture
def another(tmp_path):
    return LocalImageFiles(str(tmp_path / "images"))


@pytest.fixture
def plant(tmp_path):
    async def plant(name, data):
        path = tmp_path / "images" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    return plant


class TestLocalFiles(ImageFilesContract):
    @pytest.fixture(autouse=True)
    def nothing_beside_the_files(self, tmp_path):
        yield
        assert {path.name for path in tmp_path.iterdir()} <= {"images"}
        assert not list(tmp_path.glob("images/.unfinished/*"))
