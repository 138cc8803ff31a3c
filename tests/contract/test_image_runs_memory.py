"""Image projects and runs in memory: what unit tests build on holds to the same contract."""

import pytest
from tests.contract.image_repository_contract import ImageRepositoryContract
from tests.support.memory_images import MemoryImageRepository


@pytest.fixture
def images():
    return MemoryImageRepository()


@pytest.fixture
def another(images):
    return images


class TestImages(ImageRepositoryContract):
    pass
