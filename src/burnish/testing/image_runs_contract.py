"""What a repository of image runs holds to: what is kept of them."""

# ruff: noqa: D102 - the names of the tests say what they show

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from burnish.domain import UsageError
from burnish.domain.image_parts import ImageRepository
from burnish.domain.images import Constraints, ImageRun, ImageRunStatus, Quality, Suggestions
from burnish.testing.experiment_samples import AWKWARD_JSON, AWKWARD_TEXTS
from burnish.testing.image_samples import begin, full, make_commit, make_request, make_variant
from burnish.testing.registry_contract import everything


class ImageRunsContract:
    """Provide `images`."""

    async def test_a_new_run_waits_in_a_project_of_its_own(self, images: ImageRepository) -> None:
        request = make_request(text_model="local/x", parent_commit_id="c0", quality=Quality.HIGH)

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
            images.keep_run(unknown.run_id, token=1, seconds=1),
            images.save_run(unknown, token=1),
        )
        for one in asked:
            with pytest.raises(UsageError) as caught:
                await one
            assert caught.value.code == "not_found"
        await images.release_run(unknown.run_id, token=1)
