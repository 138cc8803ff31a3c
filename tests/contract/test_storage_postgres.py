"""Storage on PostgreSQL: the contracts on a real server, and what is particular to one."""

import asyncio
import traceback

import pytest
from psycopg import sql
from sqlalchemy import text
from tests.contract.database_contract import DatabaseContract
from tests.servers.postgres import LOCKED_USER

from burnish.domain import UnavailableError, UsageError
from burnish.storage import (
    Database,
    SqlCallCache,
    SqlDatasetRepository,
    SqlExperimentRepository,
)
from burnish.testing.dataset_contract import (
    CallCacheContract,
    DatasetRepositoryContract,
)
from burnish.testing.experiment_contract import ExperimentRepositoryContract
from burnish.testing.samples.experiments import (
    make_experiment,
    make_result,
)


@pytest.fixture
def migrated(postgres_url):
    return postgres_url


@pytest.fixture
def address(postgres):
    name = postgres.create_database()
    yield postgres.url(name)
    postgres.drop_database(name)


@pytest.fixture
async def database(migrated):
    async with await Database.open(migrated) as opened:
        yield opened


@pytest.fixture
def experiments(database):
    return SqlExperimentRepository(database)


@pytest.fixture
def datasets(database):
    return SqlDatasetRepository(database)


@pytest.fixture
def cache(database):
    return SqlCallCache(database)


class TestExperiments(ExperimentRepositoryContract):
    pass


class TestDatasets(DatasetRepositoryContract):
    pass


class TestCallCache(CallCacheContract):
    pass


class TestDatabase(DatabaseContract):
    pass


async def test_text_is_sorted_by_code_point_whatever_the_locale(database):
    statement = text(
        "SELECT table_name, column_name FROM information_schema.columns"
        " WHERE table_schema = 'public' AND table_name <> 'burnish_version'"
        " AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'"
    )

    found = await database.read(lambda connection: connection.execute(statement))

    assert found.all() == []


async def test_a_socket_serves_as_well(postgres, migrated):
    over_socket = postgres.url(migrated.rpartition("/")[2], over_socket=True)

    async with await Database.open(over_socket) as database:
        await SqlExperimentRepository(database).create_experiment(make_experiment())
        assert database.location.startswith("postgresql://postgres@")


async def test_a_restart_in_the_middle_of_a_run_is_waited_for(postgres, database, experiments):
    await experiments.create_experiment(make_experiment())
    stopping = asyncio.Event()

    async def save():
        for batch in range(60):
            await experiments.save_results("e1", [make_result(f"{batch} {n}") for n in range(5)])
            if batch == 20:
                stopping.set()

    saving = [asyncio.ensure_future(save()) for _ in range(3)]
    await stopping.wait()
    postgres.stop()
    await asyncio.sleep(0.3)
    await asyncio.to_thread(postgres.start)
    await asyncio.gather(*saving)

    assert (await experiments.summarise("e1")).runs == 300
    await experiments.create_experiment(make_experiment("e2"))


async def test_a_server_that_does_not_come_back_is_unavailable(postgres, migrated):
    async with await Database.open(migrated, patience_seconds=0.3) as database:
        postgres.stop()
        try:
            with pytest.raises(UnavailableError, match="reached"):
                await SqlExperimentRepository(database).list_experiments()
            with pytest.raises(UnavailableError, match="reached"):
                await Database.open(migrated)
        finally:
            postgres.start()


async def test_a_server_that_hangs_is_given_up(migrated):
    async with await Database.open(migrated, timeout_seconds=2) as database:
        with pytest.raises(UnavailableError, match="in time"):
            await database.read(lambda connection: connection.execute(text("SELECT pg_sleep(60)")))

        assert await SqlExperimentRepository(database).list_experiments() == []


class TestRefusals:
    PASSWORD = "canary/p@ss word"
    QUOTED = "canary%2Fp%40ss%20word"

    @pytest.fixture
    def locked_address(self, postgres, address):
        role = sql.Identifier(LOCKED_USER)
        postgres.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(role))
        postgres.execute(
            sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(role, sql.Literal(self.PASSWORD))
        )
        host = address.partition("@")[2]
        return f"postgresql://{LOCKED_USER}:{{}}@{host}"

    @pytest.mark.parametrize(
        ("name", "password", "words"),
        [
            (None, "canary-wrong", "login"),
            ("nowhere", QUOTED, "no such database"),
            (None, QUOTED, "may not"),
        ],
    )
    async def test_what_the_server_refuses_is_told_without_the_password(
        self, locked_address, name, password, words
    ):
        address = locked_address.format(password)
        if name:
            address = f"{address.rpartition('/')[0]}/{name}"

        with pytest.raises(UsageError, match=words) as caught:
            await Database.open(address)

        shown = "".join(traceback.format_exception(caught.value))
        assert "canary" not in shown
        assert "canary" not in str(caught.value.to_json())
        assert LOCKED_USER in caught.value.what

    async def test_no_server_is_told_soon_and_without_the_password(self):
        address = f"postgres://me:{self.QUOTED}@127.0.0.1:1/x?connect_timeout=2"

        with pytest.raises(UnavailableError) as caught:
            await Database.open(address)

        assert caught.value.exit_code == 4
        assert "canary" not in "".join(traceback.format_exception(caught.value))
