"""Image projects and runs on SQLite."""

import shutil

import pytest
from tests.contract.image_repository_contract import ImageRepositoryContract

from burnish.storage import Database, SqlImageRepository


@pytest.fixture
def path(sqlite_template, tmp_path):
    return shutil.copy(sqlite_template, tmp_path / "burnish.db")


@pytest.fixture
async def images(path):
    async with await Database.open(path) as database:
        yield SqlImageRepository(database)


@pytest.fixture
async def another(path):
    async with await Database.open(path) as database:
        yield SqlImageRepository(database)


class TestImages(ImageRepositoryContract):
    pass
