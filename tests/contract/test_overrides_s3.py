"""Overrides in S3: the contract on a real server."""

import uuid

import obstore
import pytest
from obstore.store import S3Store

from burnish.overrides import S3PromptOverridesStore
from burnish.testing.overrides_contract import OverridesStoreContract, OverridesWritersContract
from burnish.testing.overrides_refusals_contract import OverridesRefusalsContract


@pytest.fixture
def folder():
    return uuid.uuid4().hex


@pytest.fixture
def store(s3, folder):
    return S3PromptOverridesStore.from_url(f"s3://overrides/{folder}", **s3.settings)


@pytest.fixture
def bucket(s3, folder):
    options = {"allow_http": True}
    return S3Store("overrides", prefix=folder, client_options=options, **s3.settings)


@pytest.fixture
def another(bucket):
    return S3PromptOverridesStore(bucket)


@pytest.fixture
def plant(bucket):
    async def plant(namespace, key, tag, data):
        await obstore.put_async(bucket, f"{namespace}/{key}/{tag}.json", data)

    return plant


class TestS3Store(OverridesStoreContract):
    pass


class TestS3Refusals(OverridesRefusalsContract):
    pass


class TestS3Writers(OverridesWritersContract):
    pass


async def test_plain_http_may_be_allowed_by_the_environment(s3, folder, monkeypatch):
    names = {"endpoint": "AWS_ENDPOINT", "region": "AWS_REGION"}
    for name, value in s3.settings.items():
        monkeypatch.setenv(names.get(name, f"AWS_{name.upper()}"), value)
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")

    async with S3PromptOverridesStore.from_url(f"s3://overrides/{folder}") as store:
        assert await store.list_tags(namespace="agents", key="any") == []
