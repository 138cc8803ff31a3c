"""The contract of an ImageRepository, all of it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from tests.contract.image_history_contract import ImageHistoryContract
from tests.contract.registry_contract import everything
from tests.support.image_leases import keep_run, release_run, take_run, take_this_run
from tests.support.image_samples import begin, full, make_commit, make_request, make_variant

from burnish.domain import ConflictError, UsageError
from burnish.domain.images.protocols import ImageRepository, LeasedRun
from burnish.domain.images.runs import Constraints, ImageRun, ImageRunStatus, Quality, Suggestions
from burnish.testing.samples.experiments import AWKWARD_JSON, AWKWARD_TEXTS


class ImageRunsContract:
    """Provide `images`."""

    async def test_a_new_run_waits_in_a_project_of_its_own(self, images: ImageRepository) -> None:
        request = make_request(text_model="local/x", parent_commit_id="c0", quality=Quality.HIGH)
        with pytest.raises(UsageError, match="'c0'"):
            await images.create_run("r1", request)
        await images.add_commit(make_commit("c0"))

        made = await images.create_run("r1", request)
        again = await images.create_run("r1", make_request(base_prompt="another"))

        assert made == again == await images.run("r1")
        plain = ImageRun(run_id="r1", request=request, revision=1)
        assert made == replace(plain, created_at=made.created_at, updated_at=made.created_at)
        assert made.created_at.endswith("Z")
        assert [one.project_id for one in (await images.projects()).items] == ["p1"]

    async def test_a_run_comes_back_as_it_was_saved(self, images: ImageRepository) -> None:
        taken = await begin(images)
        await images.add_commit(make_commit("c0"))
        given = full(taken.run, anchor_commit_id="c0")

        saved = await images.save_run(given, token=taken.token)

        assert saved == replace(given, revision=2, updated_at=saved.updated_at)
        assert saved.updated_at > saved.created_at
        assert await images.run("r1") == saved
        assert list((await images.runs()).items) == [saved]

    async def test_any_text_is_kept(self, images: ImageRepository) -> None:
        for number, text in enumerate(AWKWARD_TEXTS):
            name = f"r{number} {text[:100]}"
            limits = Constraints(must_include=(text,), must_avoid=(text, ""))
            taken = await begin(images, name, base_prompt=text, constraints=limits)
            given = full(
                taken.run,
                degradations=(text,),
                error=AWKWARD_JSON,
                suggestions=Suggestions(conservative=text, balanced=text, aggressive=text),
                variants=(
                    make_variant(1, variant_prompt=text, mutation_tags=(text,), error={"x": text}),
                ),
            )

            saved = await images.save_run(given, token=taken.token)

            assert saved == replace(given, revision=2, updated_at=saved.updated_at)
            assert saved.request.constraints == limits

    async def test_a_variant_is_replaced_and_one_that_was_dropped_is_gone(
        self, images: ImageRepository
    ) -> None:
        taken = await begin(images)
        three = replace(taken.run, variants=tuple(make_variant(n) for n in (3, 1, 2)))
        saved = await images.save_run(three, token=taken.token)
        assert [one.variant_id for one in saved.variants] == ["v03", "v01", "v02"]

        changed = (make_variant(2, error={"code": "x"}), make_variant(3))
        saved = await images.save_run(replace(saved, variants=changed), token=taken.token)

        assert saved.variants == changed
        assert (
            await images.save_run(replace(saved, variants=()), token=taken.token)
        ).variants == ()

    async def test_runs_come_newest_first_by_project_and_status(
        self, images: ImageRepository
    ) -> None:
        for number in range(4):
            project = "even" if number % 2 == 0 else "odd"
            await images.create_run(f"r{number}", make_request(project_id=project))
        await images.request_cancel("r2")

        async def names(**wanted: object) -> list[str]:
            found = await everything(lambda **o: images.runs(**wanted, **o))  # type: ignore[arg-type]
            return [one.run_id for one in found]

        assert await names() == ["r3", "r2", "r1", "r0"]
        assert await names(project_id="even") == ["r2", "r0"]
        assert await names(status=ImageRunStatus.QUEUED) == ["r3", "r1", "r0"]
        assert await names(project_id="even", status=ImageRunStatus.CANCELLED) == ["r2"]
        assert await names(project_id="none") == []
        with pytest.raises(UsageError, match="cursor"):
            await images.runs(after=(1, 2))

    async def test_every_change_has_a_higher_revision(self, images: ImageRepository) -> None:
        taken = await begin(images)
        await images.create_run("r2", make_request())

        assert await images.revisions(["r1", "r2", "none\x00", "r1"]) == {"r1": 1, "r2": 1}
        await images.save_run(taken.run, token=taken.token)
        await images.request_cancel("r1")
        await images.request_cancel("r1")

        assert await images.revisions(["r1"]) == {"r1": 3}
        assert await images.revisions([]) == {}

    async def test_a_run_and_its_commits_are_written_together(
        self, images: ImageRepository
    ) -> None:
        taken = await begin(images)
        run = replace(taken.run, anchor_commit_id="c0")

        saved = await images.save_run(
            run, token=taken.token, commits=[make_commit("c1"), make_commit("c0")]
        )
        await images.save_run(saved, token=taken.token, commits=[make_commit("c1", prompt="other")])

        assert saved.anchor_commit_id == "c0"
        found = (await images.commits("p1")).items
        assert sorted(one.commit_id for one in found) == ["c0", "c1"]
        assert (await images.commit("c1")).prompt == make_commit().prompt

    async def test_writes_at_once_under_one_lease_are_all_counted(
        self, images: ImageRepository
    ) -> None:
        taken = await begin(images)

        saved = await asyncio.gather(
            *(
                images.save_run(taken.run, token=taken.token, commits=[make_commit(f"c{n}")])
                for n in range(8)
            )
        )

        assert sorted(one.revision for one in saved) == list(range(2, 10))
        assert len((await images.commits("p1")).items) == 8

    async def test_an_unknown_run_is_not_found(self, images: ImageRepository) -> None:
        unknown = ImageRun(run_id="none\x00", request=make_request())
        asked = (
            images.run(unknown.run_id),
            images.request_cancel(unknown.run_id),
            keep_run(images, unknown.run_id, token=1, seconds=1),
            images.save_run(unknown, token=1),
        )
        for one in asked:
            with pytest.raises(UsageError) as caught:
                await one
            assert caught.value.code == "not_found"
        await release_run(images, unknown.run_id, token=1)


CANCELLED, COMPLETED = ImageRunStatus.CANCELLED, ImageRunStatus.COMPLETED


class ImageLeasesContract:
    """Provide `images`, and `another` repository on the same database, as of another server."""

    async def test_the_oldest_is_taken_first_and_by_one_owner(
        self, images: ImageRepository, another: ImageRepository
    ) -> None:
        names = [f"r{9 - number}" for number in range(6)]
        for name in names:
            await images.create_run(name, make_request())

        first = await take_run(another, owner="x", seconds=60)
        assert first is not None
        assert first == LeasedRun(run=await images.run("r9"), token=1, attempts=1)

        takers = [images, another] * 5
        taken = await asyncio.gather(
            *(take_run(one, owner=f"y{n}", seconds=60) for n, one in enumerate(takers))
        )
        # Who comes at the same moment may find the oldest locked, and looks again later.
        taken += [await take_run(images, owner="z", seconds=60) for _ in range(6)]

        assert sorted(one.run.run_id for one in taken if one) == sorted(names[1:])
        assert await take_run(another, owner="z", seconds=60) is None

    async def test_a_certain_run_is_taken_by_one_owner(
        self, images: ImageRepository, another: ImageRepository
    ) -> None:
        await images.create_run("r1", make_request())

        taken = await asyncio.gather(
            *(
                take_this_run(one, "r1", owner=f"o{n}", seconds=60)
                for n, one in enumerate([images, another] * 5)
            )
        )

        assert sum(one is not None for one in taken) == 1
        assert await take_run(images, owner="z", seconds=60) is None
        with pytest.raises(UsageError) as caught:
            await take_this_run(images, "none\x00", owner="z", seconds=60)
        assert caught.value.code == "not_found"

    async def test_a_run_that_is_not_kept_is_taken_again(self, images: ImageRepository) -> None:
        first = await begin(images, seconds=0)

        second = await take_run(images, owner="owner b", seconds=0)
        assert second is not None
        assert (second.token, second.attempts) == (first.token + 1, 2)
        assert await keep_run(images, "r1", token=second.token, seconds=60) is False
        assert await take_run(images, owner="owner c", seconds=60) is None

    async def test_a_run_that_was_given_back_can_be_had_at_once(
        self, images: ImageRepository
    ) -> None:
        first = await begin(images)

        await release_run(images, "r1", token=first.token)
        await release_run(images, "r1", token=first.token)
        second = await take_run(images, owner="owner b", seconds=60)

        assert second is not None
        assert (second.token, second.attempts) == (first.token + 1, 1)
        # And whoever lost it cannot give back somebody else's.
        await release_run(images, "r1", token=first.token)
        assert await take_run(images, owner="owner c", seconds=60) is None

    async def test_a_late_write_is_refused_after_the_lease_moved(
        self, images: ImageRepository, another: ImageRepository
    ) -> None:
        first = await begin(images, seconds=0)
        second = await take_run(another, owner="owner b", seconds=60)
        assert second is not None
        late = full(first.run)

        for write in (
            lambda: images.save_run(late, token=first.token, commits=[make_commit("late")]),
            lambda: keep_run(images, "r1", token=first.token, seconds=60),
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
        await release_run(images, "r1", token=first.token)

        saved = await images.save_run(full(first.run), token=first.token)

        assert saved.revision == 2
        with pytest.raises(ConflictError, match="given up"):
            await keep_run(images, "r1", token=first.token, seconds=60)
        second = await take_run(images, owner="owner b", seconds=60)
        assert second is not None
        with pytest.raises(ConflictError, match="owner b"):
            await images.save_run(saved, token=first.token)

    async def test_a_run_that_ended_stays_so_and_is_nobodys(self, images: ImageRepository) -> None:
        taken = await begin(images)
        done = await images.save_run(replace(taken.run, status=COMPLETED), token=taken.token)

        assert done.completed_at == done.updated_at
        assert await take_run(images, owner="b", seconds=60) is None
        assert await take_this_run(images, "r1", owner="b", seconds=60) is None
        assert await images.request_cancel("r1") == done
        assert await keep_run(images, "r1", token=taken.token, seconds=60) is False
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

        assert await take_run(images, owner="b", seconds=60) is None
        # Its owner was only slow, and comes too late.
        with pytest.raises(ConflictError, match="ended"):
            await images.save_run(dead.run, token=dead.token)
        with pytest.raises(ConflictError, match="ended"):
            await keep_run(images, "dead", token=dead.token, seconds=60)

    async def test_cancelling_a_run_that_somebody_has_tells_them(
        self, images: ImageRepository, another: ImageRepository
    ) -> None:
        taken = await begin(images)

        asked = await another.request_cancel("r1")

        assert (asked.status, asked.cancel_requested) == (ImageRunStatus.QUEUED, True)
        assert asked.completed_at is None
        assert await keep_run(images, "r1", token=taken.token, seconds=60) is True
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

        await release_run(images, "r1", token=taken.token)

        ended = await images.run("r1")
        assert (ended.status, ended.revision) == (CANCELLED, 3)
        assert await take_run(images, owner="b", seconds=60) is None

    async def test_a_run_is_cancelled_once_whoever_is_faster(
        self, images: ImageRepository, another: ImageRepository
    ) -> None:
        for number in range(5):
            name = f"r{number}"
            await images.create_run(name, make_request())

            taken, asked = await asyncio.gather(
                take_this_run(images, name, owner="a", seconds=60), another.request_cancel(name)
            )

            assert asked.cancel_requested
            assert (taken is None) == (asked.status is CANCELLED)
            if taken is not None:
                assert await keep_run(images, name, token=taken.token, seconds=60) is True

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


class ImageRepositoryContract(ImageHistoryContract, ImageRunsContract, ImageLeasesContract):
    """Provide `images`, and `another` repository on the same database, as of another server."""
