"""Picture files in S3: the contract on a real server."""

import uuid

import obstore
import pytest
from obstore.store import S3Store
from tests.contract.image_files_contract import ImageFilesContract

from burnish.storage import ObjectImageFiles


@pytest.fixture
def folder():
    return uuid.uuid4().hex


@pytest.fixture
def files(s3, folder):
    return ObjectImageFiles(f"s3://overrides/{folder}", **s3.settings)


@pytest.fixture
def another(s3, folder):
    return ObjectImageFiles(f"s3://overrides/{folder}/", **s3.settings)


@pytest.fixture
def plant(s3, folder):
    bucket = S3Store("overrides", prefix=folder, client_options={"allow_http": True}, **s3.settings)

    async def plant(name, data):
        await obstore.put_async(bucket, name, data)

    return plant


class TestS3Files(ImageFilesContract):
    pass
