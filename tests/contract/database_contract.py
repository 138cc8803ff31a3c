"""What SQL storage keeps to besides the repositories' contracts."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, text
from tests.contract.old_databases import make_old_database
from tests.support.child_processes import children, line, tell

from burnish.domain import (
    ConflictError,
    ExperimentStatus,
    InvariantError,
)
from burnish.storage import Database, SqlCallCache, SqlExperimentRepository, SqlToolCalls
from burnish.storage.engine.schema import HEAD, VERSION_TABLE, stored_revision
from burnish.storage.experiments.tables import metadata
from burnish.testing.clocks import FakeClock
from burnish.testing.samples.experiments import (
    SCOPE,
    make_experiment,
    make_refinement,
    make_result,
    make_round,
)

_OPENER = """
import asyncio, sys
from burnish.storage import Database
async def main():
    print("ready", flush=True)
    sys.stdin.readline()
    database = await Database.open(sys.argv[1])
    await database.close()
    print("opened", flush=True)
asyncio.run(main())
"""

# In an interpreter of its own: the tests have loaded Alembic.
_REOPENER = """
import asyncio, sys
from burnish.storage import Database
async def main():
    await (await Database.open(sys.argv[1])).close()
asyncio.run(main())
print("alembic" in sys.modules)
"""

_WRITER = """
import asyncio, sys
from burnish.domain import AgentOutput, ItemResult, Score
from burnish.storage import Database, SqlExperimentRepository
def result(name):
    return ItemResult(item_id=name, item_hash=name, repeat=0, score=1.0, passed=True,
                      output=AgentOutput(text="x" * 500), scores=(Score(1.0, name="s"),))
async def main():
    database = await Database.open(sys.argv[1])
    repository = SqlExperimentRepository(database)
    for batch in range(1_000_000):
        results = [result(f"{batch} {n}") for n in range(20)]
        await repository.save_results(sys.argv[2], results)
        print(batch, flush=True)
asyncio.run(main())
"""

_OLD_RESULT = (
    "INSERT INTO experiments (id, name, type, status, agent_name, configuration_hash, suite_name,"
    " created_at, updated_at, configuration, metadata) VALUES ('old', 'old', 'regular',"
    " 'completed', 'a', 'h', 's', '2026', '2026', '{}', '{}')",
    "INSERT INTO experiment_items (experiment_id, item_id, repeat, item_hash, score, passed,"
    " cached, latency_ms, spending, created_at, output) VALUES ('old', 'i1', 0, 'h', 0.5,"
    " FALSE, FALSE, 1.0, '{}', 1, '{\"text\": \"x\"}')",
)


class DatabaseContract:
    """What SQL storage keeps to besides. Provide `address`, of a database that is still empty."""

    async def test_a_database_is_made_once_and_then_opened_at_once(self, address: str) -> None:
        first = await Database.open(address)
        await SqlExperimentRepository(first).create_experiment(make_experiment())
        await first.close()
        await first.close()

        async with await Database.open(address) as second:
            stored = await SqlExperimentRepository(second).get_experiment("e1")

        assert stored.name == "an experiment"
        with pytest.raises(InvariantError, match="closed"):
            await SqlExperimentRepository(second).get_experiment("e1")

    async def test_migrations_build_the_tables_that_the_code_uses(self, address: str) -> None:
        await asyncio.to_thread(make_old_database, address, "0001")

        async with await Database.open(address) as database:
            changes = await database.read(lambda connection: connection.run_sync(_differences))

        assert changes == []

    async def test_results_that_are_older_than_rounds_stay_and_get_some(self, address: str) -> None:
        await asyncio.to_thread(make_old_database, address, "0006", _OLD_RESULT)

        async with await Database.open(address) as database:
            experiments = SqlExperimentRepository(database)
            before = await experiments.get_results("old")
            anew = make_result("i1", refinement=make_refinement())
            await experiments.save_results("old", [anew], rounds=[make_round("i1")])
            after = await experiments.get_results("old")

        assert [(one.item_id, one.score, one.refinement) for one in before] == [("i1", 0.5, None)]
        assert after == [anew]

    async def test_a_new_database_is_what_the_migrations_would_have_built(
        self, address: str
    ) -> None:
        async with await Database.open(address) as database:
            changes = await database.read(lambda connection: connection.run_sync(_differences))
            revision = await database.read(lambda connection: connection.run_sync(stored_revision))

        assert changes == []
        assert revision == HEAD

    async def test_processes_that_open_a_new_database_at_once_all_succeed(
        self, address: str
    ) -> None:
        with children(_OPENER, [(address,), (address,)]) as openers:
            for opener in openers:
                assert line(opener) == "ready"
            for opener in openers:
                tell(opener, "go")
            for opener in openers:
                assert line(opener) == "opened"

        # With nothing to migrate Alembic, which is slow, is not even loaded.
        again = [sys.executable, "-W", "error", "-c", _REOPENER, address]
        assert subprocess.run(again, capture_output=True, check=True).stdout == b"False\n"

    async def test_a_killed_writer_loses_nothing_that_it_was_told_is_kept(
        self, address: str
    ) -> None:
        names = ["e0", "e1"]
        async with await Database.open(address) as database:
            for name in names:
                await SqlExperimentRepository(database).create_experiment(make_experiment(name))

        told = []
        with children(_WRITER, [(address, name) for name in names]) as writers:
            for lines, writer in zip((5, 17), writers, strict=True):
                for _ in range(lines):
                    line(writer)
                os.kill(writer.pid, signal.SIGKILL)
                told.append(lines + len(writer.stdout.read().splitlines()))

        async with await Database.open(address) as database:
            repository = SqlExperimentRepository(database)
            for name, batches in zip(names, told, strict=True):
                kept = [r.item_id for r in await repository.get_results(name)]
                whole, rest = divmod(len(kept), 20)
                assert (rest, whole - batches) in ((0, 0), (0, 1))
                assert set(kept) == {f"{b} {n}" for b in range(whole) for n in range(20)}

    async def test_what_several_programs_write_to_one_record_is_all_kept(
        self, address: str
    ) -> None:
        async with await Database.open(address) as one, await Database.open(address) as two:
            repositories = [SqlExperimentRepository(one), SqlExperimentRepository(two)]
            await repositories[0].create_experiment(make_experiment())

            await asyncio.gather(
                *(
                    repositories[n % 2].update_experiment("e1", metadata={f"k{n}": n})
                    for n in range(20)
                )
            )

            stored = await repositories[1].get_experiment("e1")
        assert stored.metadata == {f"k{n}": n for n in range(20)}

    async def test_a_write_whose_answer_was_lost_may_be_done_again(self, address: str) -> None:
        async with await Database.open(address) as database:
            repository = SqlExperimentRepository(_Twice(database))  # type: ignore[arg-type]

            await repository.create_experiment(make_experiment())
            await repository.update_experiment("e1", metadata={"a": 1})
            await repository.save_results("e1", [make_result()], cache=SCOPE)

            assert await repository.get_results("e1") == [make_result()]
            assert (await repository.get_experiment("e1")).metadata == {"a": 1}

    async def test_a_newer_database_is_refused(self, address: str) -> None:
        async with await Database.open(address) as database:
            change = text("UPDATE burnish_version SET version_num = '9999'")
            await database.write(lambda connection: connection.execute(change))

        with pytest.raises(ConflictError, match="newer") as caught:
            await Database.open(address)

        assert caught.value.code == "newer_database"

    async def test_tables_of_another_program_are_left_alone(self, address: str) -> None:
        async with await Database.open(address) as database:
            change = text("DROP TABLE burnish_version")
            await database.write(lambda connection: connection.execute(change))

        with pytest.raises(ConflictError) as caught:
            await Database.open(address)

        assert caught.value.code == "foreign_database"

    async def test_a_full_cache_forgets_what_was_not_used_for_longest(self, address: str) -> None:
        clock = FakeClock()
        async with await Database.open(address, clock=clock) as database:
            cache = SqlCallCache(database, max_bytes=20_000)
            for number in range(15):
                await cache.put(f"k{number}", {"text": "x" * 1000})
            clock.advance(7200)
            assert await cache.get("k3") is not None
            for number in range(15, 22):
                await cache.put(f"k{number}", {"text": "x" * 1000})

            kept = {number for number in range(22) if await cache.get(f"k{number}")}

        assert len(kept) <= 20
        assert {3, 19, 20, 21} <= kept
        assert not {0, 1, 2} & kept

    async def test_tool_calls_are_kept_until_their_experiment_is_completed(
        self, address: str
    ) -> None:
        async with await Database.open(address) as database:
            experiments, calls = SqlExperimentRepository(database), SqlToolCalls(database)
            experiment = make_experiment()
            await experiments.create_experiment(experiment)
            work, other = f"{experiment.id}/item/0", f"{experiment.id}/item/1"
            await calls.add(work, "1/a", {"text": "old"})
            await calls.add(work, "1/a", {"text": "half \ud800 of a pair\0"})
            await asyncio.gather(*(calls.add(work, f"2/{n}", {"text": n}) for n in range(40)))

            kept = await calls.load(work)
            await experiments.update_experiment(experiment.id, status=ExperimentStatus.COMPLETED)

            assert len(kept) == 41 and kept["1/a"] == {"text": "half \ud800 of a pair\0"}
            assert await calls.load(other) == {}
            assert await calls.load(work) == {}

    async def test_stamps_grow_even_when_the_clock_is_set_back(self, address: str) -> None:
        clock = FakeClock()
        async with await Database.open(address, clock=clock) as database:
            stamps = [database.stamp(), database.stamp()]
            clock.advance(-3600)
            stamps += [database.stamp(), database.stamp()]

        assert stamps == sorted(set(stamps))


class _Twice:
    """A database whose first answer to every write gets lost."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    async def write(self, work: Any) -> Any:
        await self._database.write(work)
        return await self._database.write(work)


def _differences(connection: Connection) -> list[Any]:
    def differ(*columns: Any) -> bool:
        # Context, inspected column, declared column, and the two types, which are last.
        inspected, declared = (
            # The driver calls our texts VARCHAR when it casts; to PostgreSQL they are one.
            kind.compile(connection.dialect).replace("VARCHAR", "TEXT")
            for kind in columns[-2:]
        )
        return bool(inspected != declared)

    options = {"version_table": VERSION_TABLE, "compare_type": differ}
    context = MigrationContext.configure(connection, opts=options)
    return list(compare_metadata(context, metadata))
