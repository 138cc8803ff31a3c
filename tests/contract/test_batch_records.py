"""Batch records: what every database keeps to when batches are recorded, sent, forgotten and ended."""

import asyncio
import shutil
from datetime import UTC, datetime, timedelta

import pytest

from burnish.domain import BatchClaim, BatchRecord
from burnish.storage import Database, SqlBatchRecords

NOW = datetime(2026, 5, 1, 12, 0, 0, 123456, tzinfo=UTC)


def make_batch(name="b1", *, requests=2, **more):
    return BatchRecord(
        id=name, model="openai/x", fingerprint="x@1", requests=requests, created_at=NOW, **more
    )


def make_claims(name="b1", keys=("k1", "k2")):
    return [BatchClaim(key, name, place, f"run/{key}") for place, key in enumerate(keys)]


class BatchRecordsContract:
    """Every store of batches passes this; subclass it and provide `records`."""

    async def test_a_batch_comes_back_as_it_was_recorded(self, records):
        batch = make_batch(run_id="run\x00with anything")

        assert await records.record(batch, make_claims())

        assert await records.batch("b1") == batch
        assert await records.batch("b2") is None
        assert await records.claims(["k1", "k9"]) == {"k1": BatchClaim("k1", "b1", 0, "run/k1")}

    async def test_a_request_is_in_one_batch_and_a_second_one_leaves_nothing(self, records):
        await records.record(make_batch(), make_claims())

        assert not await records.record(make_batch("b2"), make_claims("b2", ["k0", "k2"]))

        assert await records.batch("b2") is None
        assert list(await records.claims(["k0", "k1", "k2"])) == ["k1", "k2"]

    async def test_of_many_who_record_the_same_request_one_has_it(self, records):
        names = [f"b{number}" for number in range(8)]

        won = await asyncio.gather(
            *(records.record(make_batch(name), make_claims(name)) for name in names)
        )

        assert sum(won) == 1
        holders = {one.batch_id for one in (await records.claims(["k1", "k2"])).values()}
        assert holders == {names[won.index(True)]}

    async def test_it_is_noted_when_it_is_about_to_be_sent_and_as_what_it_was(self, records):
        await records.record(make_batch(), make_claims())

        assert await records.note_sending("b1", NOW)
        assert not await records.note_sending("b1", NOW)
        assert await records.note_sent("b1", "v1")

        assert await records.batch("b1") == make_batch(sending_at=NOW, vendor_id="v1")
        assert not await records.note_sent("b2", "v2")

    async def test_only_what_was_never_sent_is_forgotten_and_as_it_was_seen(self, records):
        await records.record(make_batch(), make_claims())
        seen = await records.batch("b1")
        await records.note_sending("b1", NOW)

        assert not await records.forget(seen)
        seen = await records.batch("b1")
        assert await records.forget(seen)

        assert await records.claims(["k1", "k2"]) == {}
        assert not await records.note_sent("b1", "v1")
        await records.record(make_batch(), make_claims())
        await records.note_sent("b1", "v1")
        assert not await records.forget(make_batch())

    async def test_released_requests_are_free_for_another_batch(self, records):
        keys = [f"k{number}" for number in range(1200)]
        await records.record(make_batch(requests=1200), make_claims(keys=keys))

        await records.release("b1", keys[:-1])
        await records.release("b2", keys)

        assert list(await records.claims(keys)) == [keys[-1]]
        assert await records.record(make_batch("b2"), make_claims("b2", keys[:-1]))

    async def test_open_batches_of_a_run_are_those_that_have_not_ended(self, records):
        for name, run in (("b1", "r1"), ("b2", "r1"), ("b3", "r2")):
            await records.record(make_batch(name, run_id=run), make_claims(name, [name]))
        await records.note_ended("b1", NOW + timedelta(hours=1))

        assert [one.id for one in await records.open_batches("r1")] == ["b2"]
        assert (await records.batch("b1")).ended_at == NOW + timedelta(hours=1)

    async def test_it_is_noted_how_far_the_vendor_is(self, records):
        await records.record(make_batch(), make_claims())

        await records.note_look("b1", 1, NOW)

        told = await records.batch("b1")
        assert (told.answered, told.looked_at) == (1, NOW)


class TestSqlite(BatchRecordsContract):
    @pytest.fixture
    async def records(self, sqlite_template, tmp_path):
        path = shutil.copy(sqlite_template, tmp_path / "burnish.db")
        async with await Database.open(path) as database:
            yield SqlBatchRecords(database)


class TestPostgres(BatchRecordsContract):
    @pytest.fixture
    async def records(self, postgres_url):
        async with await Database.open(postgres_url) as database:
            yield SqlBatchRecords(database)
