"""Storage on SQLite: the contracts, and what is particular to a file."""

import asyncio
import math
import shutil
import sqlite3
import subprocess
import sys
import traceback
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy.exc import DBAPIError, OperationalError
from tests.contract.database_contract import DatabaseContract

from burnish.domain import UnavailableError, UsageError
from burnish.storage import (
    Database,
    SqlCallCache,
    SqlDatasetRepository,
    SqlExperimentRepository,
)
from burnish.storage.engine.codec import (
    decode_json,
    decode_text,
    encode_json,
    encode_text,
)
from burnish.storage.engine.connections import Address
from burnish.storage.engine.database import RetryLimits, with_retries
from burnish.storage.engine.failures import passing, translate
from burnish.storage.engine.schema import HEAD, MIGRATIONS
from burnish.testing.clocks import FakeClock
from burnish.testing.dataset_contract import (
    CallCacheContract,
    DatasetRepositoryContract,
)
from burnish.testing.experiment_contract import ExperimentRepositoryContract
from burnish.testing.samples.experiments import (
    SCOPE,
    make_experiment,
    make_result,
)


@pytest.fixture
async def database(sqlite_template, tmp_path):
    path = shutil.copy(sqlite_template, tmp_path / "burnish.db")
    async with await Database.open(path) as opened:
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


@pytest.fixture
def address(tmp_path):
    return str(tmp_path / "some" / "folder" / "burnish.db")


class TestExperiments(ExperimentRepositoryContract):
    pass


class TestDatasets(DatasetRepositoryContract):
    pass


class TestCallCache(CallCacheContract):
    pass


class TestDatabase(DatabaseContract):
    pass


ANY_TEXT = st.text(st.characters(exclude_categories=()))
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | ANY_TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner),
    max_leaves=20,
)


class TestCodec:
    @settings(deadline=None)
    @given(ANY_TEXT, ANY_TEXT)
    def test_any_text_is_stored_as_one_that_every_database_takes(self, text, other):
        stored = encode_text(text)

        assert "\x00" not in stored
        stored.encode("utf-8")
        assert decode_text(stored) == text
        assert (encode_text(other) == stored) is (other == text)

    @settings(deadline=None, max_examples=50)
    @given(JSON)
    def test_any_json_is_stored_as_text_that_every_database_takes(self, value):
        stored = encode_json(value)

        if value is not None:
            assert "\x00" not in stored
            stored.encode("utf-8")
        assert decode_json(stored) == value

    def test_common_text_stays_readable(self):
        assert encode_text("naïve 漢字") == "naïve 漢字"
        assert encode_json({"text": "naïve 漢字"}) == '{"text":"naïve 漢字"}'

    def test_what_nests_without_end_is_refused(self):
        endless = []
        for _ in range(100_000):
            endless = [endless]

        with pytest.raises(UsageError, match="nested"):
            encode_json(endless)


class TestAddress:
    @pytest.mark.parametrize(
        "given",
        ["sqlite:///data/b.db", "sqlite+aiosqlite:///data/b.db", "data/b.db", Path("data/b.db")],
    )
    def test_a_file_by_path_or_url(self, given):
        assert Address.of(given).path == Path("data/b.db").absolute()
        assert Address.of("sqlite:////var/b %20.db").path == Path("/var/b %20.db")

    @pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
    def test_a_server_by_url(self, scheme):
        address = Address.of(f"{scheme}://me:canary@host:5433/name?sslmode=require")

        assert address.url.drivername == "postgresql+psycopg"
        assert address.url.password == "canary"
        assert address.location == "postgresql://me@host:5433/name"

    @pytest.mark.parametrize(
        "given",
        [
            "postgresql://me:canary",
            "postgresql://me:p@canary@host/name",
            "postgresql://me:canary@host:port/name",
            "mysql://me:canary@host/name",
            "postgresql+asyncpg://me:canary@host/name",
            "sqlite://",
            "sqlite:///b.db?mode=canary",
            ":memory:",
            "",
        ],
    )
    def test_what_cannot_be_used_is_refused_without_being_repeated(self, given):
        with pytest.raises(UsageError) as caught:
            Address.of(given)

        assert caught.value.code == "unsupported_database"
        assert "canary" not in "".join(traceback.format_exception(caught.value, chain=False))

    def test_a_password_is_hidden_in_every_form(self):
        address = Address.of("postgresql://me:can%2Fary%20x@host/n?password=second")

        assert address.hide("can/ary x, can%2Fary%20x, second") == "***, ***, ***"
        assert "ary" not in repr(address)


class TestRetries:
    PATIENCE = RetryLimits(busy_seconds=10, lost_seconds=0)

    async def test_a_lock_is_waited_for(self):
        clock = FakeClock()
        outcomes = [locked(), locked(), locked(), "done"]

        assert await with_retries(acting(outcomes), self.PATIENCE, clock) == "done"
        assert 0.1 < clock.monotonic() < 1

    async def test_patience_ends(self):
        clock = FakeClock()

        with pytest.raises(OperationalError):
            await with_retries(acting([locked()] * 1000), self.PATIENCE, clock)
        assert 10 <= clock.monotonic() < 13

    async def test_what_will_not_pass_is_not_tried_again(self):
        clock = FakeClock()

        with pytest.raises(DBAPIError):
            await with_retries(acting([failure(sqlite3.SQLITE_FULL), "done"]), self.PATIENCE, clock)
        with pytest.raises(ValueError, match="mine"):
            await with_retries(acting([ValueError("mine"), "done"]), self.PATIENCE, clock)
        assert clock.monotonic() == 0


def failure(code):
    error = sqlite3.OperationalError("words of the driver")
    error.sqlite_errorcode = code
    return OperationalError("SELECT", {}, error)


def locked():
    return failure(sqlite3.SQLITE_BUSY)


def acting(outcomes):
    left = iter(outcomes)

    async def act():
        outcome = next(left)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return act


class TestFailures:
    @pytest.mark.parametrize(
        ("code", "kind", "words"),
        [
            (sqlite3.SQLITE_BUSY, UnavailableError, "locked"),
            (sqlite3.SQLITE_BUSY_SNAPSHOT, UnavailableError, "locked"),
            (sqlite3.SQLITE_FULL, UnavailableError, "full"),
            (sqlite3.SQLITE_READONLY_DIRECTORY, UnavailableError, "written"),
            (sqlite3.SQLITE_IOERR_WRITE, UnavailableError, "disk"),
            (sqlite3.SQLITE_CANTOPEN, UnavailableError, "opened"),
            (sqlite3.SQLITE_NOTADB, UsageError, "not a SQLite"),
            (sqlite3.SQLITE_CORRUPT, UsageError, "damaged"),
            (sqlite3.SQLITE_TOOBIG, UsageError, "too large"),
        ],
    )
    def test_each_failure_says_what_to_do(self, code, kind, words):
        error = translate(failure(code), Address.of("x.db"))

        assert type(error) is kind
        assert words in error.why
        assert error.fix

    def test_a_read_only_file_is_told_by_sqlite_itself(self, sqlite_template):
        reader = sqlite3.connect(f"file:{sqlite_template}?mode=ro", uri=True)
        with pytest.raises(sqlite3.OperationalError) as caught:
            reader.execute("DELETE FROM experiments")
        reader.close()

        error = translate(OperationalError("", {}, caught.value), Address.of(sqlite_template))

        assert isinstance(error, UnavailableError)
        assert passing(OperationalError("", {}, caught.value)) is None

    async def test_a_file_of_another_kind_is_refused(self, tmp_path):
        path = tmp_path / "notes.txt"
        path.write_text("not a database " * 100)

        for wrong, words in ((path, "not a SQLite"), (tmp_path, "folder")):
            with pytest.raises(UsageError, match=words):
                await Database.open(wrong)
        assert path.read_text() == "not a database " * 100

    async def test_a_missing_driver_says_what_to_install(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "psycopg", None)

        with pytest.raises(UsageError, match=r"burnish\[postgres\]"):
            await Database.open("postgresql://127.0.0.1:1/x")

    def test_a_list_loads_neither_the_orm_nor_what_checks_and_migrates(
        self, sqlite_template, monkeypatch
    ):
        monkeypatch.setenv("BURNISH_DB", str(sqlite_template))
        heavy = ("sqlalchemy.orm", "sqlalchemy.ext.asyncio", "aiosqlite", "alembic", "pydantic")
        script = (
            "import sys; from burnish.cli.invocation import run_command\n"
            "assert run_command(['list']) == 0\n"
            f"sys.exit(repr([one for one in {heavy} if one in sys.modules]))"
        )

        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=False
        )

        assert done.stderr.strip() == "[]"

    def test_a_dataset_of_few_rows_needs_no_orm(self, sqlite_template, tmp_path):
        path = shutil.copy(sqlite_template, tmp_path / "burnish.db")
        heavy = ("sqlalchemy.orm", "sqlalchemy.ext.asyncio", "aiosqlite")
        script = (
            "import asyncio, sys\n"
            "from burnish.domain import Item\n"
            "from burnish.storage import Database\n"
            "from burnish.storage.experiments.datasets import SqlDatasetRepository\n"
            "async def store():\n"
            f"    async with await Database.open({str(path)!r}) as database:\n"
            "        items = [Item(id=str(n), data={'n': n}) for n in range(499)]\n"
            "        record = await SqlDatasetRepository(database).ensure_dataset('d', 'f', items)\n"
            "        assert record.items == 499\n"
            "asyncio.run(store())\n"
            f"sys.exit(repr([one for one in {heavy} if one in sys.modules]))"
        )

        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=False
        )

        assert done.stderr.strip() == "[]"

    async def test_a_path_below_a_file_is_unavailable(self, tmp_path):
        (tmp_path / "file").write_text("")

        with pytest.raises(UnavailableError):
            await Database.open(tmp_path / "file" / "burnish.db")

    async def test_a_lock_that_stays_is_an_error_and_one_that_goes_is_not(
        self, sqlite_template, tmp_path
    ):
        path = shutil.copy(sqlite_template, tmp_path / "burnish.db")
        other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        async with await Database.open(path, patience_seconds=0.2) as database:
            experiments = SqlExperimentRepository(database)
            other.execute("BEGIN IMMEDIATE")

            with pytest.raises(UnavailableError, match="locked"):
                await experiments.create_experiment(make_experiment())
        async with await Database.open(path) as database:
            experiments = SqlExperimentRepository(database)
            creating = asyncio.ensure_future(experiments.create_experiment(make_experiment()))
            await asyncio.sleep(0.1)
            assert not creating.done()
            other.execute("COMMIT")
            await creating
        other.close()

    async def test_a_new_dataset_waits_for_a_lock_too(self, sqlite_template, tmp_path):
        path = shutil.copy(sqlite_template, tmp_path / "burnish.db")
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        clock = UnlockingClock(other)
        async with await Database.open(path, patience_seconds=0.05, clock=clock) as database:
            record = await SqlDatasetRepository(database).ensure_dataset("d", "f", [])

        assert record.items == 0
        assert clock.sleeps
        other.close()

    async def test_reading_goes_on_while_somebody_writes(self, sqlite_template, tmp_path):
        path = shutil.copy(sqlite_template, tmp_path / "burnish.db")
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        async with await Database.open(path) as database:
            assert await SqlExperimentRepository(database).list_experiments() == []
        other.close()

    def test_a_full_disk_is_unavailable_and_what_was_kept_stays(self, sqlite_template, tmp_path):
        if subprocess.run(["unshare", "-m", "true"], check=False).returncode:
            pytest.skip("mounting is not permitted here")
        mount = f'mount -t tmpfs -o size=2m none "{tmp_path}" && exec "$@"'
        command = ["unshare", "-m", "sh", "-c", mount, "sh", sys.executable, "-W", "error"]

        done = subprocess.run(
            [*command, "-c", FULL_DISK, str(tmp_path)], capture_output=True, text=True, check=False
        )

        assert done.returncode == 0, done.stderr
        assert "UnavailableError" in done.stdout
        assert "disk" in done.stdout
        assert "all kept" in done.stdout
        assert "and more" in done.stdout


class UnlockingClock(FakeClock):
    """Ends another connection's transaction as soon as somebody waits."""

    def __init__(self, other):
        super().__init__()
        self._other = other

    async def sleep(self, seconds):
        if self._other.in_transaction:
            self._other.execute("COMMIT")
        await super().sleep(seconds)


FULL_DISK = """
import asyncio, pathlib, sys
from burnish.domain import *
from burnish.storage import Database, SqlExperimentRepository
folder = pathlib.Path(sys.argv[1])
def result(name):
    return ItemResult(item_id=name, item_hash=name, repeat=0, score=1.0, passed=True,
                      output=AgentOutput(text="x" * 2000))
async def main():
    ballast = folder / "ballast"
    ballast.write_bytes(bytes(900_000))
    async with await Database.open(folder / "burnish.db") as database:
        repository = SqlExperimentRepository(database)
        await repository.create_experiment(Experiment(
            id="e", name="e", type=ExperimentType.REGULAR, status=ExperimentStatus.RUNNING,
            agent_name="a", configuration=Configuration.of({}), suite_name="s",
            dataset_id=None, planned_items=None))
        kept = 0
        try:
            while True:
                await repository.save_results("e", [result(f"{kept} {n}") for n in range(20)])
                kept += 1
        except UnavailableError as error:
            print(type(error).__name__, error)
        if kept > 2 and (await repository.summarise("e")).runs == kept * 20:
            print("all kept")
        ballast.unlink()
        await repository.save_results("e", [result("after")])
        print("and more")
asyncio.run(main())
"""


def test_the_head_that_opening_looks_for_is_the_newest_migration():
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))

    assert ScriptDirectory.from_config(config).get_heads() == [HEAD]


async def test_results_survive_in_a_file_with_an_unusual_name(tmp_path):
    path = tmp_path / "a b%41?#é" / "burnish 1.db"
    async with await Database.open(path) as database:
        await SqlExperimentRepository(database).create_experiment(make_experiment())
        await SqlExperimentRepository(database).save_results("e1", [make_result(score=math.pi)])

    assert path.exists()
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("SELECT score FROM experiment_items").fetchone() == (math.pi,)
    connection.close()


async def test_the_agent_of_an_experiment_is_on_record(database, experiments):
    await experiments.create_experiment(make_experiment())
    await experiments.save_results("e1", [make_result()], cache=SCOPE)

    async def fingerprint(connection):
        return await connection.exec_driver_sql("SELECT agent_fingerprint FROM experiments")

    assert (await database.read(fingerprint)).scalar() == "agent"
