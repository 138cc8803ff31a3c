"""What a repository of image runs holds to: who runs which, and how they end."""

# ruff: noqa: D102 - the names of the tests say what they show

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from burnish.domain import ConflictError, UsageError
from burnish.domain.image_parts import ImageRepository, LeasedRun
from burnish.domain.images import ImageRun, ImageRunStatus
from burnish.testing.image_samples import begin, full, make_commit, make_request

CANCELLED, COMPLETED = ImageRunStatus.CANCELLED, ImageRunStatus.COMPLETED


class ImageLeasesContract:
    """Provide `images`, and `another` repository on the same database, as of another server."""

    async def test_the_oldest_is_taken_first_and_by_one_owner(
        self, images: ImageRepository, another: ImageRepository
    ) -> None:
        names = [f"r{9 - number}" for number in range(6)]
        for name in names:
            await images.create_run(name, make_request())

        first = await another.take_run(owner="x", seconds=60)
        assert first is not None
        assert first == LeasedRun(run=await images.run("r9"), token=1, attempts=1)

        takers = [images, another] * 5
        taken = await asyncio.gather(
            *(one.take_run(owner=f"y{n}", seconds=60) for n, one in enumerate(takers))
        )
        # Who comes at the same moment may find the oldest locked, and looks again later.
        taken += [await images.take_run(owner="z", seconds=60) for _ in range(6)]

        assert sorted(one.run.run_id for one in taken if one) == sorted(names[1:])
        assert await another.take_run(owner="z", seconds=60) is None

    async def test_a_certain_run_is_taken_by_one_owner(
        self, images: ImageRepository, another: ImageRepository
    ) -> None:
        await images.create_run("r1", make_request())

        taken = await asyncio.gather(
            *(
                one.take_this_run("r1", owner=f"o{n}", seconds=60)
                for n, one in enumerate([images, another] * 5)
            )
        )

        assert sum(one is not None for one in taken) == 1
        assert await images.take_run(owner="z", seconds=60) is None
        with pytest.raises(UsageError) as caught:
            await images.take_this_run("none\x00", owner="z", seconds=60)
        assert caught.value.code == "not_found"

    async def test_a_run_that_is_not_kept_is_taken_again(self, images: ImageRepository) -> None:
        first = await begin(images, seconds=0)

        second = await images.take_run(owner="owner b", seconds=0)
        assert second is not None
        assert (second.token, second.attempts) == (first.token + 1, 2)
        assert await images.keep_run("r1", token=second.token, seconds=60) is False
        assert await images.take_run(owner="owner c", seconds=60) is None

    async def test_a_run_that_was_given_back_can_be_had_at_once(
        self, images: ImageRepository
    ) -> None:
        first = await begin(images)

        await images.release_run("r1", token=first.token)
        await images.release_run("r1", token=first.token)
        second = await images.take_run(owner="owner b", seconds=60)

        assert second is not None
        assert (second.token, second.attempts) == (first.token + 1, 1)
        # And whoever lost it cannot give back somebody else's.
        await images.release_run("r1", token=first.token)
        assert await images.take_run(owner="owner c", seconds=60) is None

    async def test_a_late_write_is_refused_after_the_lease_moved(
        self, images: ImageRepository, another: ImageRepository
    ) -> None:
        first = await begin(images, seconds=0)
        second = await another.take_run(owner="owner b", seconds=60)
        assert second is not None
        late = full(first.run)

        for write in (
            lambda: images.save_run(late, token=first.token, commits=[make_commit("late")]),
            lambda: images.keep_run("r1", token=first.token, seconds=60),
        ):
            with pytest.raises(ConflictError, match="owner b") as caught:
                await write()
            assert caught.value.code == "lease_lost"

        assert await images.run("r1") == second.run
        with pytest.raises(UsageError):
            await images.commit("late")
        assert list((await images.commits("p1")).items) == []
        await another.save_run(second.run, token=second.token)

    async def test_a_lease_that_was_given_up_serves_until_the_next_one(
        self, images: ImageRepository
    ) -> None:
        first = await begin(images)
        await images.release_run("r1", token=first.token)

        saved = await images.save_run(full(first.run), token=first.token)

        assert saved.revision == 2
        with pytest.raises(ConflictError, match="given up"):
            await images.keep_run("r1", token=first.token, seconds=60)
        second = await images.take_run(owner="owner b", seconds=60)
        assert second is not None
        with pytest.raises(ConflictError, match="owner b"):
            await images.save_run(saved, token=first.token)

    async def test_a_run_that_ended_stays_so_and_is_nobodys(self, images: ImageRepository) -> None:
        taken = await begin(images)
        done = await images.save_run(replace(taken.run, status=COMPLETED), token=taken.token)

        assert done.completed_at == done.updated_at
        assert await images.take_run(owner="b", seconds=60) is None
        assert await images.take_this_run("r1", owner="b", seconds=60) is None
        assert await images.request_cancel("r1") == done
        assert await images.keep_run("r1", token=taken.token, seconds=60) is False
        with pytest.raises(ConflictError, match="ended"):
            await images.save_run(taken.run, token=taken.token)
        # A repeated attempt, whose answer was lost, is no harm.
        again = await images.save_run(done, token=taken.token)
        assert replace(again, revision=2, updated_at=done.updated_at) == done

    async def test_cancelling_a_run_that_nobody_has_ends_it_at_once(
        self, images: ImageRepository
    ) -> None:
        await images.create_run("queued", make_request())
        dead = await begin(images, "dead", seconds=0)

        for name in ("queued", "dead"):
            ended = await images.request_cancel(name)
            assert (ended.status, ended.cancel_requested) == (CANCELLED, True)
            assert ended.completed_at == ended.updated_at
            assert ended == await images.run(name)

        assert await images.take_run(owner="b", seconds=60) is None
        # Its owner was only slow, and comes too late.
        with pytest.raises(ConflictError, match="ended"):
            await images.save_run(dead.run, token=dead.token)
        with pytest.raises(ConflictError, match="ended"):
            await images.keep_run("dead", token=dead.token, seconds=60)

    async def test_cancelling_a_run_that_somebody_has_tells_them(
        self, images: ImageRepository, another: ImageRepository
    ) -> None:
        taken = await begin(images)

        asked = await another.request_cancel("r1")

        assert (asked.status, asked.cancel_requested) == (ImageRunStatus.QUEUED, True)
        assert asked.completed_at is None
        assert await images.keep_run("r1", token=taken.token, seconds=60) is True
        # A write that does not know of it yet does not take it back.
        saved = await images.save_run(taken.run, token=taken.token)
        assert saved.cancel_requested
        ended = await images.save_run(replace(saved, status=CANCELLED), token=taken.token)
        assert (ended.status, ended.cancel_requested) == (CANCELLED, True)

    async def test_a_run_given_back_after_its_cancellation_ends(
        self, images: ImageRepository
    ) -> None:
        taken = await begin(images)
        await images.request_cancel("r1")

        await images.release_run("r1", token=taken.token)

        ended = await images.run("r1")
        assert (ended.status, ended.revision) == (CANCELLED, 3)
        assert await images.take_run(owner="b", seconds=60) is None

    async def test_a_run_is_cancelled_once_whoever_is_faster(
        self, images: ImageRepository, another: ImageRepository
    ) -> None:
        for number in range(5):
            name = f"r{number}"
            await images.create_run(name, make_request())

            taken, asked = await asyncio.gather(
                images.take_this_run(name, owner="a", seconds=60), another.request_cancel(name)
            )

            assert asked.cancel_requested
            assert (taken is None) == (asked.status is CANCELLED)
            if taken is not None:
                assert await images.keep_run(name, token=taken.token, seconds=60) is True

    async def test_a_run_ends_once_though_it_is_cancelled_meanwhile(
        self, images: ImageRepository, another: ImageRepository
    ) -> None:
        for number in range(5):
            taken = await begin(images, f"r{number}", seconds=0)
            done = replace(taken.run, status=COMPLETED)

            saved, asked = await asyncio.gather(
                images.save_run(done, token=taken.token),
                another.request_cancel(f"r{number}"),
                return_exceptions=True,
            )

            assert isinstance(asked, ImageRun)
            stored = await images.run(f"r{number}")
            assert stored.status is asked.status
            if isinstance(saved, ImageRun):
                assert (saved.status, stored) == (COMPLETED, saved)
            else:
                assert isinstance(saved, ConflictError)
                assert stored.status is CANCELLED
