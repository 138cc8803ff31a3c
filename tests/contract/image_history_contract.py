"""What a repository of image projects holds to: projects, commits, comparisons, files."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from tests.contract.registry_contract import everything
from tests.support.image_samples import (
    begin,
    make_commit,
    make_comparison,
    make_file,
    make_request,
    make_rubric,
    make_variant,
)

from burnish.domain import ConflictError, UsageError
from burnish.domain.images.protocols import ImageRepository
from burnish.domain.images.runs import CommitStatus, ImageRunStatus, VariantStatus
from burnish.testing.samples.experiments import AWKWARD_TEXTS


class ImageHistoryContract:
    """Provide `images`."""

    async def test_a_project_is_made_once(self, images: ImageRepository) -> None:
        made = await asyncio.gather(*(images.ensure_project("p1") for _ in range(5)))

        assert len({one.created_at for one in made}) == 1
        assert made[0].created_at.endswith("Z")
        assert (made[0].commits, made[0].latest_image) == (0, None)

    async def test_projects_come_by_name_with_their_newest_picture(
        self, images: ImageRepository
    ) -> None:
        for name in ("b", "a", "A", "c"):
            await images.ensure_project(name)
        await images.add_commit(make_commit("c1", project_id="b"))
        await images.add_commit(make_commit("c2", project_id="b"))
        failed = make_commit("c3", project_id="b", status=CommitStatus.FAILED, images=())
        await images.add_commit(failed)

        found = await everything(images.projects)

        assert [one.project_id for one in found] == ["A", "a", "b", "c"]
        assert [one.commits for one in found] == [0, 0, 3, 0]
        assert found[2].latest_image == make_file("c2").digest
        assert await images.ensure_project("b") == found[2]

    async def test_a_commit_comes_back_as_it_was(self, images: ImageRepository) -> None:
        for text in AWKWARD_TEXTS:
            name = text[:100]
            given = make_commit(
                f"c {name}",
                project_id=f"p {name}",
                parent_commit_id=name,
                prompt=text,
                model=text,
                error=text,
                run_id=name,
                variant_id=name,
                images=(make_file(text), make_file("other", media_type="image/webp", size=2**33)),
            )

            stored = await images.add_commit(given)

            assert stored == replace(given, created_at=stored.created_at)
            assert stored.created_at.endswith("Z")
            assert await images.commit(given.commit_id) == stored
            assert list((await images.commits(given.project_id)).items) == [stored]

    async def test_of_commits_with_one_id_the_first_wins(self, images: ImageRepository) -> None:
        given = [make_commit("c1", prompt=f"prompt {n}") for n in range(5)]

        stored = await asyncio.gather(*(images.add_commit(one) for one in given))

        assert len({one.prompt for one in stored}) == 1
        assert [one.images for one in stored] == [(make_file("c1"),)] * 5
        assert len((await images.commits("p1")).items) == 1

    async def test_commits_come_newest_first_page_by_page(self, images: ImageRepository) -> None:
        for number in range(5):
            await images.add_commit(make_commit(f"c{number}", images=(make_file("same"),)))
        await images.add_commit(make_commit("elsewhere", project_id="p2"))

        found = await everything(lambda **o: images.commits("p1", **o))

        assert [one.commit_id for one in found] == ["c4", "c3", "c2", "c1", "c0"]
        assert all(one.images == (make_file("same"),) for one in found)
        assert list((await images.commits("nowhere")).items) == []
        with pytest.raises(UsageError, match="cursor"):
            await images.commits("p1", after=("only one",))

    async def test_a_commit_has_the_score_that_its_variant_was_given_later(
        self, images: ImageRepository
    ) -> None:
        taken = await begin(images)
        drawn = make_variant(1, status=VariantStatus.GENERATED, rubric=None, composite_score=None)
        commit = make_commit("c1", run_id="r1", variant_id="v01")
        run = await images.save_run(
            replace(taken.run, variants=(drawn,)), token=taken.token, commits=[commit]
        )
        assert (await images.commit("c1")).score is None

        judged = replace(run, variants=(make_variant(1),))
        await images.save_run(judged, token=taken.token)

        scored = await images.commit("c1")
        assert scored.score == make_rubric().composite_score
        assert scored.judged_by == make_request().base_prompt
        other = await images.add_commit(make_commit("c2", run_id="r1", variant_id="v01"))
        assert other.score is None
        own = await images.add_commit(make_commit("c3", score=0.5))
        assert own.score == 0.5

    async def test_a_comparison_comes_back_as_it_was(self, images: ImageRepository) -> None:
        given = make_comparison(judge="NUL \x00", left_rubric=make_rubric(rationale="\ud800"))

        stored = await images.add_comparison(given)
        again = await images.add_comparison(replace(given, changed_share=1.0))

        assert stored == replace(given, created_at=stored.created_at)
        assert again == stored == await images.comparison("x1")

    async def test_comparisons_of_a_commit_are_found_the_newest_first(
        self, images: ImageRepository
    ) -> None:
        first = await images.add_comparison(make_comparison("x1"))
        second = await images.add_comparison(
            make_comparison("x2", left_commit_id="c2", right_commit_id="c3")
        )
        plain = await images.add_comparison(
            make_comparison("x3", left_commit_id="c3", right_commit_id="c4", wish=None)
        )

        assert list(await images.comparisons("c2")) == [second, first]
        assert list(await images.comparisons("c4")) == [plain]
        assert list(await images.comparisons("none")) == []

    async def test_files_are_known_by_commits_and_comparisons(
        self, images: ImageRepository
    ) -> None:
        shared = make_file("shared")
        await images.add_commit(make_commit("c1", images=(shared, make_file("own"))))
        await images.add_commit(make_commit("c2", images=(shared,)))
        comparison = await images.add_comparison(make_comparison())

        for file in (shared, make_file("own"), comparison.difference_map):
            assert await images.file(file.digest) == file
        await images.delete_commit("c1")

        assert await images.file(shared.digest) == shared
        with pytest.raises(UsageError, match="no picture"):
            await images.file(make_file("own").digest)

    async def test_children_keep_the_id_of_a_parent_that_was_deleted(
        self, images: ImageRepository
    ) -> None:
        await images.add_commit(make_commit("c1"))
        child = await images.add_commit(make_commit("c2", parent_commit_id="c1"))

        await images.delete_commit("c1")

        assert await images.commit("c2") == child
        orphan = await images.add_commit(make_commit("c3", parent_commit_id="c1"))
        assert orphan.parent_commit_id == "c1"
        assert (await images.ensure_project("p1")).commits == 2

    async def test_an_anchor_cannot_be_deleted_while_its_run_goes_on(
        self, images: ImageRepository
    ) -> None:
        await images.add_commit(make_commit("c0"))
        taken = await begin(images, parent_commit_id="c0")
        run = await images.save_run(replace(taken.run, anchor_commit_id="c0"), token=taken.token)

        with pytest.raises(ConflictError, match="r1") as caught:
            await images.delete_commit("c0")
        assert caught.value.code == "commit_in_use"
        assert (await images.commit("c0")).can_be_parent

        await images.save_run(replace(run, status=ImageRunStatus.FAILED), token=taken.token)
        await images.delete_commit("c0")
        assert (await images.run("r1")).anchor_commit_id == "c0"

    async def test_a_parent_cannot_be_deleted_while_a_run_waits_for_its_turn(
        self, images: ImageRepository
    ) -> None:
        """IMG-14: only the anchor was looked at, which a run that plans has not yet."""
        await images.add_commit(make_commit("c0"))
        await images.create_run("r1", make_request(parent_commit_id="c0"))

        with pytest.raises(ConflictError, match="r1") as caught:
            await images.delete_commit("c0")

        assert caught.value.code == "commit_in_use"
        await images.request_cancel("r1")
        await images.delete_commit("c0")

    async def test_an_anchor_deleted_meanwhile_is_not_built_on(
        self, images: ImageRepository
    ) -> None:
        await images.add_commit(make_commit("c0"))
        taken = await begin(images)
        await images.delete_commit("c0")

        with pytest.raises(UsageError, match="'c0'") as caught:
            await images.save_run(replace(taken.run, anchor_commit_id="c0"), token=taken.token)

        assert caught.value.code == "not_found"
        assert await images.run("r1") == taken.run
        failed = replace(taken.run, status=ImageRunStatus.FAILED, anchor_commit_id="c0")
        assert (await images.save_run(failed, token=taken.token)).status is ImageRunStatus.FAILED

    async def test_a_commit_is_either_deleted_or_built_on(self, images: ImageRepository) -> None:
        for number in range(5):
            await images.add_commit(make_commit(f"c{number}"))
            taken = await begin(images, f"r{number}")
            anchored = replace(taken.run, anchor_commit_id=f"c{number}")

            outcomes = await asyncio.gather(
                images.delete_commit(f"c{number}"),
                images.save_run(anchored, token=taken.token),
                return_exceptions=True,
            )

            assert sum(isinstance(one, Exception) for one in outcomes) == 1, outcomes
            assert isinstance(outcomes[0], ConflictError) or isinstance(outcomes[1], UsageError)

    async def test_one_project_can_be_asked_for(self, images: ImageRepository) -> None:
        made = await images.ensure_project("p1")

        assert await images.project("p1") == made

    async def test_what_is_not_there_is_not_found(self, images: ImageRepository) -> None:
        for name in ("none", "NUL \x00", "half \ud800", "../../etc/passwd"):
            for ask in (
                images.commit,
                images.comparison,
                images.file,
                images.delete_commit,
                images.project,
            ):
                with pytest.raises(UsageError) as caught:
                    await ask(name)
                assert caught.value.code == "not_found"
