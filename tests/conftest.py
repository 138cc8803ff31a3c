"""What holds for every test: compiled code is read from disk, and never that of a test's own files.

Where `PYTHONDONTWRITEBYTECODE` is set, each process would compile the package again, and each worker
all tests. A module that a test writes twice within a second, on the other hand, would be taken
for the first one if Python kept its bytecode.
"""

# ruff: noqa: PLC0415 - what only some tests ask for is imported when they do

import asyncio
import compileall
import gc
import os
import sys
from pathlib import Path

import hypothesis
import pytest

# Assertions of contracts and samples are to be explained like any test's.
pytest.register_assert_rewrite("burnish.testing", "tests.contract", "tests.support")

HERE = Path(__file__).parent
SOURCES = (HERE.parent / "src", HERE / "servers", HERE / "support")


# How long an example takes says how busy the machine is, and nothing of what is tested. The same ones
# are drawn in each run, so that a verdict is about the change; `make fuzz` draws many new ones.
FUZZ = int(os.environ.get("BURNISH_FUZZ", "0"))
hypothesis.settings.register_profile(
    "burnish",
    deadline=None,
    derandomize=not FUZZ,
    max_examples=FUZZ or 40,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("burnish")


def pytest_configure(config):
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    worker = getattr(config, "workerinput", None)
    if worker is None:
        for folder in SOURCES:
            compileall.compile_dir(folder, quiet=2)
    elif [config.rootpath / one for one in config.args] == [HERE]:
        # Each worker begins elsewhere and finds compiled what others began with.
        files = sorted(map(str, HERE.rglob("test_*.py")))
        begin = len(files) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
        config.args[:] = files[begin:] + files[:begin]


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is loaded here stays: the collector need not look at it now, nor after each test."""
    sys.dont_write_bytecode = False
    gc.disable()
    try:
        return (yield)
    finally:
        sys.dont_write_bytecode = True
        gc.freeze()
        gc.enable()


# Tests that fork: the less a process has loaded, the less a fork of it costs.
FORKING = {
    "test_compress.py",
    "test_gepa_reference.py",
    "test_gepa_runs.py",
    "test_image_run_kills.py",
    "test_image_storage_kills.py",
    "test_objectives.py",
    "test_optimization_faults.py",
    "test_optimization_kills.py",
    "test_refined_trials.py",
    "test_shard_runs.py",
}


def pytest_collection_modifyitems(config, items):
    """Each worker begins with its part of those that fork; they take long, too, and end no run.

    A part is what stands together, so that what a file sets up is set up by one worker. All have the
    same order, wherever they began to collect; a random one that was asked for stays as it is.
    """
    if config.pluginmanager.hasplugin("randomly"):
        return
    items.sort(key=lambda item: item.path.parts)
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    first = [item for item in items if item.path.name in FORKING]
    rest = [item for item in items if item.path.name not in FORKING]
    items[:] = [
        item
        for worker in range(workers)
        for part in (first, rest)
        for item in part[len(part) * worker // workers : len(part) * (worker + 1) // workers]
    ]


# Servers: one of each kind for all tests of a worker. A test that stops one starts it again.


@pytest.fixture(scope="session")
def postgres():
    from tests.servers.postgres import running_postgres

    with running_postgres() as server:
        yield server


@pytest.fixture(scope="session")
def _emptied_database(postgres):
    from burnish.storage import Database

    name = postgres.create_database()

    async def make():
        await (await Database.open(postgres.url(name))).close()

    asyncio.run(make())
    return name


@pytest.fixture
def postgres_url(postgres, _emptied_database):
    """The address of a database with all tables and no rows; all tests get the same one."""
    yield postgres.url(_emptied_database)
    postgres.empty(_emptied_database)


@pytest.fixture(scope="session")
def valkey():
    from tests.servers.valkey import running_valkey

    with running_valkey() as server:
        yield server


@pytest.fixture
async def redis_client(valkey):
    """A client of a server that holds nothing yet."""
    from redis.asyncio import Redis

    async with Redis.from_url(valkey.url) as client:
        await client.flushall()
        yield client


@pytest.fixture(scope="session")
def s3():
    """A server with the bucket `overrides`; who uses it takes a folder of their own."""
    from tests.servers.s3 import running_s3

    with running_s3() as server:
        server.create_bucket("overrides")
        yield server


@pytest.fixture(scope="session")
def commands():
    """Runs commands in processes of their own, all forked from one that has loaded everything."""
    from tests.support.warm_commands import warm_commands

    with warm_commands() as started:
        yield started
