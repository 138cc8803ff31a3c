"""What optimizations in SQL keep to besides. Subclass it and provide `address` of an empty database."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from typing import TypeVar

import pytest
from tests.contract.old_databases import make_old_database
from tests.support.child_processes import children, line, tell

from burnish.domain import (
    CacheScope,
    ConflictError,
    ExperimentRepository,
    ExperimentStatus,
    OptimizationRepository,
)
from burnish.storage import Database, SqlExperimentRepository, SqlOptimizationRepository
from burnish.storage.engine.connections import Work
from burnish.storage.engine.schema import HEAD, stored_revision
from burnish.testing.clocks import FakeClock
from burnish.testing.samples.experiments import (
    make_experiment,
    make_result,
)
from burnish.testing.samples.optimizations import (
    begin,
    make_candidate,
    make_event,
    make_record,
    make_rejection,
    make_trial,
    planned,
)

T = TypeVar("T")

_RIVAL = """
import asyncio, sys
from burnish.domain import ConflictError
from burnish.storage import Database, SqlOptimizationRepository
async def main():
    async with await Database.open(sys.argv[1]) as database:
        optimizations = SqlOptimizationRepository(database)
        print("ready", flush=True)
        while name := sys.stdin.readline().strip():
            try:
                await optimizations.acquire_lease(name, owner=sys.argv[2], seconds=60)
                print("won", flush=True)
            except ConflictError as error:
                print(error.code, flush=True)
asyncio.run(main())
"""

# A database as the first release left it, with one finished experiment.
_OLD_ROWS = (
    "INSERT INTO datasets VALUES ('d1', 'reviews', 'f', 1, '2026-01-31T12:00:00.000000Z')",
    "INSERT INTO experiments VALUES ('e1', 'old', 'regular', 'completed', 'router', 'agent', 'hash',"
    " 'suite', 'd1', 1, NULL, '2026-01-31T12:00:00.000000Z', '2026-01-31T12:00:00.000000Z',"
    """ '{"sections":{"system":"Route."},"parameters":{},"examples":[]}', '{}')""",
    "INSERT INTO experiments SELECT 'e2', name, type, status, agent_name, 'errors only',"
    " configuration_hash, suite_name, dataset_id, planned_items, optimization_id, created_at,"
    " updated_at, configuration, metadata FROM experiments",
    "INSERT INTO experiment_items (experiment_id, item_id, repeat, item_hash, score, passed, cached,"
    " latency_ms, spending, cache_key, created_at, output) VALUES"
    " ('e1', 'i1', 0, 'h', 1.0, true, false, 1.0, '{}', 'key', 1, NULL),"
    " ('e2', 'i1', 0, 'h', 0.0, false, false, 1.0, '{}', NULL, 2, NULL)",
)

# An optimization and its baseline's trial, as the program kept them before revision 0004.
_OLD_TRIAL = (
    "INSERT INTO optimizations VALUES ('o1', 'old', 'completed', 'accuracy', 'router', 'suite',"
    " 'edits', NULL, 7, NULL, NULL, false, NULL, NULL, NULL, NULL, 0, NULL, 'then', 'then')",
    "INSERT INTO trials VALUES ('o1', 0, '', 'o1-0', 'opt-o1-0', 'experiment 0', 'trial',"
    " 'completed', 0.5, 4, 3, 1, 0.75, 0.1, 1.5, NULL, 'why')",
)

# Two candidates as the program kept them before revision 0010.
_OLD_CANDIDATES = (
    _OLD_TRIAL[0],
    "INSERT INTO candidates VALUES ('o1', 'o1-0', 0, 0, 'hash', 'opt-o1-0', '[]', NULL,"
    """ '{"sections":{"system":"Route, version 0."},"parameters":{},"examples":[]}')""",
    """INSERT INTO candidates VALUES ('o1', 'o1-1', 1, 1, 'hash', 'opt-o1-1', '["o1-0"]', NULL,"""
    """ '{"sections":{"system":"Route, version 1."},"parameters":{},"examples":[]}')""",
)


class _Repeating(Database):
    """Does every write twice, as when only the answer to the first one was lost."""

    async def write(self, work: Work[T]) -> T:
        await super().write(work)
        return await super().write(work)


class OptimizationDatabaseContract:
    """Provide `address`, of a database that is still empty."""

    async def test_a_database_of_the_first_release_is_brought_up_to_date_in_place(
        self, address: str
    ) -> None:
        await asyncio.to_thread(make_old_database, address, "0001", _OLD_ROWS)

        async with await Database.open(address) as database:
            revision = await database.read(lambda connection: connection.run_sync(stored_revision))
            experiments = SqlExperimentRepository(database)
            stored = await experiments.get_experiment("e1")
            results = await experiments.get_results("e1")
            scopes = [
                CacheScope(agent_fingerprint=agent, configuration_hash="hash")
                for agent in ("agent", "errors only")
            ]
            reusable = [await experiments.has_results(scope) for scope in scopes]
            optimizations = SqlOptimizationRepository(database)
            await optimizations.create_optimization(make_record(dataset_id="d1"))
            listed = await optimizations.list_optimizations()

        assert revision == HEAD
        assert (stored.name, stored.status) == ("old", ExperimentStatus.COMPLETED)
        assert [(one.item_id, one.score) for one in results] == [("i1", 1.0)]
        assert reusable == [True, False]
        assert [one.id for one in listed] == ["o1"]

    async def test_what_answers_took_is_unknown_of_trials_that_are_older_than_the_question(
        self, address: str
    ) -> None:
        await asyncio.to_thread(make_old_database, address, "0003", _OLD_TRIAL)

        async with await Database.open(address) as database:
            trials = await SqlOptimizationRepository(database).list_trials("o1")

        assert trials == [make_trial(0, error="why", objective_score=0.5)]
        assert (trials[0].summary.avg_tokens, trials[0].summary.avg_cost_usd) == (None, None)

    async def test_candidates_that_are_older_than_metadata_have_none_and_stay_readable(
        self, address: str
    ) -> None:
        await asyncio.to_thread(make_old_database, address, "0009", _OLD_CANDIDATES)

        async with await Database.open(address) as database:
            optimizations = SqlOptimizationRepository(database)
            old = await optimizations.list_candidates("o1")
            lease = await optimizations.acquire_lease("o1", owner="me", seconds=60)
            new = make_candidate(2, metadata={"kind": "line", "edits": ["a", "b"]})
            await optimizations.save_step(
                lease, candidates=planned(new), rejections=[], checkpoint={}
            )
            stored = await optimizations.list_candidates("o1")

        assert old == [make_candidate(0), make_candidate(1)]
        assert stored == [*old, new]

    async def test_of_two_processes_that_want_a_lease_at_once_one_gets_it(
        self, address: str
    ) -> None:
        async with await Database.open(address) as database:
            for number in range(8):
                optimizations = SqlOptimizationRepository(database)
                await optimizations.create_optimization(make_record(f"o{number}"))
        with children(_RIVAL, [(address, "a"), (address, "b")]) as rivals:
            assert [line(rival) for rival in rivals] == ["ready", "ready"]
            for number in range(8):
                for rival in rivals:
                    tell(rival, f"o{number}")

                assert sorted(line(rival) for rival in rivals) == ["owned", "won"]

    async def test_leases_run_by_the_clock_of_the_database(
        self, address: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        now = time.time()
        ahead, behind = (
            FakeClock(datetime.fromtimestamp(now + seconds, UTC)) for seconds in (3600, -3600)
        )
        async with await Database.open(address) as database:
            optimizations = SqlOptimizationRepository(database)
            await optimizations.create_optimization(make_record())
            await optimizations.acquire_lease("o1", owner="first", seconds=50)
        monkeypatch.setattr(time, "time", lambda: now + 3600)
        async with await Database.open(address, clock=ahead) as database:
            optimizations = SqlOptimizationRepository(database)
            with pytest.raises(ConflictError, match=r"first .* (50|4\d)\.\d seconds"):
                await optimizations.acquire_lease("o1", owner="second", seconds=50)
            await optimizations.acquire_lease("o1", owner="first", seconds=0)
        monkeypatch.setattr(time, "time", lambda: now - 3600)
        async with await Database.open(address, clock=behind) as database:
            lease = await SqlOptimizationRepository(database).acquire_lease(
                "o1", owner="second", seconds=50
            )

        assert lease.token == 3

    async def test_a_write_whose_answer_was_lost_is_not_done_twice(self, address: str) -> None:
        async with await _Repeating.open(address) as database:
            optimizations = SqlOptimizationRepository(database)
            await optimizations.create_optimization(make_record("o2", spec={"n": 1}))
            lease = await optimizations.acquire_lease("o2", owner="me", seconds=60)
            for index in (0, 5):
                await optimizations.save_step(
                    lease,
                    candidates=planned(make_candidate(index, "o2")),
                    rejections=[make_rejection(index), make_rejection(index)],
                    checkpoint={"step": index},
                    events=[make_event(f"step {index}")],
                )
            await optimizations.save_trial(lease, make_trial(5, "o2"), events=[make_event("t")])

            record = await optimizations.get_optimization("o2")
            rejections = await optimizations.list_rejections("o2")
            events = await optimizations.list_events("o2")
            candidates = await optimizations.list_candidates("o2")

        assert (record.trials, record.checkpoint) == (1, {"step": 5})
        assert [one.proposed_index for one in rejections] == [0, 0, 5, 5]
        assert [(one.sequence, one.key) for one in events] == [
            (1, "step 0"),
            (2, "step 5"),
            (3, "t"),
        ]
        assert [one.number for one in candidates] == [0, 5]

    async def test_nothing_of_an_old_owner_appears_once_the_lease_has_moved(
        self, address: str
    ) -> None:
        async with await Database.open(address) as database, await Database.open(address) as other:
            optimizations = SqlOptimizationRepository(database)
            experiments = SqlExperimentRepository(database)
            lease = await begin(optimizations, candidates=2)
            await experiments.create_experiment(make_experiment())

            async def write(number: int) -> None:
                for turn in range(1_000_000):
                    name = f"{number} {turn}"
                    if number % 2:
                        events = [make_event(name)]
                        await optimizations.save_trial(lease, make_trial(1), events=events)
                    else:
                        await experiments.save_results("e1", [make_result(name)], lease=lease)

            writers = [asyncio.ensure_future(write(number)) for number in range(8)]
            while min(await _written(optimizations, experiments)) < 5:
                assert not any(writer.done() for writer in writers)
            await SqlOptimizationRepository(other).acquire_lease(
                "o1", owner="owner b", seconds=60, replacing=lease.owner
            )
            before = await _written(
                SqlOptimizationRepository(other), SqlExperimentRepository(other)
            )
            ends = await asyncio.gather(*writers, return_exceptions=True)
            after = await _written(optimizations, experiments)

        assert {(type(end), getattr(end, "code", None)) for end in ends} == {
            (ConflictError, "lease_lost")
        }
        assert after == before


async def _written(
    optimizations: OptimizationRepository, experiments: ExperimentRepository
) -> tuple[int, int]:
    events = await optimizations.list_events("o1", limit=1_000_000)
    return len(events), (await experiments.summarise("e1")).runs
