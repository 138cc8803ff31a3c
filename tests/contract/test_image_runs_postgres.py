"""Image projects and runs on a real PostgreSQL."""

import psycopg
import pytest
from tests.contract.image_repository_contract import ImageRepositoryContract
from tests.support.image_leases import take_run
from tests.support.image_samples import make_request

from burnish.storage import Database, SqlImageRepository


@pytest.fixture(scope="module")
def database(postgres, postgres_template):
    name = postgres.create_database(template=postgres_template)
    yield postgres.url(name)
    postgres.drop_database(name)


@pytest.fixture
def url(database):
    """One database for all of these tests, emptied for each."""
    with psycopg.connect(database) as connection:
        connection.execute("DELETE FROM image_projects")
    return database


@pytest.fixture
async def images(url):
    async with await Database.open(url) as database:
        yield SqlImageRepository(database)


@pytest.fixture
async def another(url):
    async with await Database.open(url) as database:
        yield SqlImageRepository(database)


class TestImages(ImageRepositoryContract):
    async def test_nobody_waits_for_a_run_that_another_is_just_taking(self, images, url):
        for name in ("r1", "r2"):
            await images.create_run(name, make_request())

        with psycopg.connect(url) as other:
            other.execute("SELECT id FROM image_runs WHERE id = 'r1' FOR UPDATE")
            taken = await take_run(images, owner="a", seconds=60)
            assert taken.run.run_id == "r2"
            assert await take_run(images, owner="b", seconds=60) is None
        assert (await take_run(images, owner="c", seconds=60)).run.run_id == "r1"
