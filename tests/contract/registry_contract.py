"""What keepers of configured objects and of optimizer runs hold to. Subclass and give fixtures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

import pytest

from burnish.app.wiring import Workspace
from burnish.domain import (
    ConflictError,
    ExperimentStatus,
    ExperimentType,
    Item,
    OptimizationStatus,
    Score,
    UsageError,
)
from burnish.domain.pages import Page
from burnish.domain.registry import ObjectKind, ObjectVersion, OptimizerRun
from burnish.testing.samples.experiments import (
    AWKWARD_JSON,
    AWKWARD_TEXTS,
    make_experiment,
    make_result,
)
from burnish.testing.samples.optimizations import begin, make_record, make_trial

T = TypeVar("T")
SUITE, OPTIMIZER = ObjectKind.SUITE, ObjectKind.AGENT_OPTIMIZER


async def everything(page_of: Callable[..., Awaitable[Page[T]]]) -> list[T]:
    """All of a list, read one by one."""
    return [one async for one in _walk(page_of)]


async def _walk(page_of: Callable[..., Awaitable[Page[T]]]) -> AsyncIterator[T]:
    after: Any = None
    while True:
        page = await page_of(limit=1, after=after)
        for one in page.items:
            yield one
        if page.next is None:
            return
        after = page.next


class ObjectRepositoryContract:
    """Provide `workspace`."""

    async def test_a_change_is_a_new_version_and_the_id_stays(self, workspace: Workspace) -> None:
        objects = workspace.objects
        saved = [await objects.save(SUITE, "s", {"n": n}, author="ada") for n in range(3)]

        assert [one.version for one in saved] == [1, 2, 3]
        assert len({one.id for one in saved}) == 1
        assert await objects.get(SUITE, "s") == saved[-1]
        assert await objects.find(SUITE, saved[0].id) == saved[-1]
        assert await objects.version(saved[0].id, 1) == replace(saved[0], active=False)
        versions = await everything(lambda **o: objects.versions(saved[0].id, **o))
        assert [(one.version, one.active) for one in versions] == [
            (3, True),
            (2, False),
            (1, False),
        ]

    async def test_an_equal_document_stays_the_version_that_it_is(
        self, workspace: Workspace
    ) -> None:
        first = await workspace.objects.save(SUITE, "s", {"a": 1, "b": 2})

        assert await workspace.objects.save(SUITE, "s", {"b": 2, "a": 1}) == first

    @pytest.mark.parametrize("text", AWKWARD_TEXTS)
    async def test_what_is_kept_comes_back_as_it_was(self, workspace: Workspace, text: str) -> None:
        document = {"a": text.replace("\ud800", "?"), "b": [1, 1.5, None]}

        saved = await workspace.objects.save(OPTIMIZER, text, document, scope=text, author=text)

        assert await workspace.objects.get(OPTIMIZER, text, scope=text) == saved
        assert (saved.name, saved.scope, saved.author) == (text, text, text)
        assert saved.document == document

    async def test_names_are_apart_by_kind_and_scope(self, workspace: Workspace) -> None:
        objects = workspace.objects
        await objects.save(OPTIMIZER, "x", {"n": 1}, scope="a")
        await objects.save(OPTIMIZER, "x", {"n": 2}, scope="b")
        await objects.save(SUITE, "x", {"n": 3})

        assert (await objects.get(OPTIMIZER, "x", scope="a")).document == {"n": 1}
        found = await everything(lambda **o: objects.page(OPTIMIZER, **o))
        assert [one.scope for one in found] == ["a", "b"]
        found = await everything(lambda **o: objects.page(OPTIMIZER, scope="b", **o))
        assert [one.document["n"] for one in found] == [2]

    async def test_what_is_not_there_is_not_found(self, workspace: Workspace) -> None:
        saved = await workspace.objects.save(SUITE, "s", {})
        asked = (
            workspace.objects.get(SUITE, "none\x00"),
            workspace.objects.get(OPTIMIZER, "s"),
            workspace.objects.find(OPTIMIZER, saved.id),
            workspace.objects.version(saved.id, 2),
        )
        for one in asked:
            with pytest.raises(UsageError) as caught:
                await one
            assert caught.value.code == "not_found"

    async def test_of_those_who_expect_the_same_version_one_wins(
        self, workspace: Workspace
    ) -> None:
        first = await workspace.objects.save(SUITE, "s", {"n": -1}, expected_version=0)
        outcomes = await asyncio.gather(
            *(workspace.objects.save(SUITE, "s", {"n": n}, expected_version=1) for n in range(6)),
            return_exceptions=True,
        )

        assert [type(one) for one in outcomes].count(ConflictError) == 5
        assert (await workspace.objects.find(SUITE, first.id)).version == 2

    async def test_a_first_version_is_refused_when_there_is_one(self, workspace: Workspace) -> None:
        await workspace.objects.save(SUITE, "s", {"n": 1})

        with pytest.raises(ConflictError, match="version is 1"):
            await workspace.objects.save(SUITE, "s", {"n": 2}, expected_version=0)


class OptimizerRunContract:
    """Provide `workspace`."""

    @pytest.fixture
    async def optimizer(self, workspace: Workspace) -> ObjectVersion:
        return await workspace.objects.save(OPTIMIZER, "nightly", {}, scope="router")

    def run_of(self, optimizer: ObjectVersion, identity: str, **changes: Any) -> OptimizerRun:
        plain = OptimizerRun(
            id=identity,
            optimizer_id=optimizer.id,
            agent_name="router",
            optimizer_name="nightly",
            optimizer_version=1,
            base_config_version=1,
            suite_id="suite",
            suite_version=0,
            settled=True,
        )
        return replace(plain, **changes)

    async def finish(self, workspace: Workspace, identity: str) -> None:
        lease = await workspace.optimizations.acquire_lease(identity, owner="o", seconds=60)
        await workspace.optimizations.save_status(lease, OptimizationStatus.COMPLETED)
        await workspace.optimizations.release_lease(lease)

    async def test_a_run_is_queued_when_it_begins(
        self, workspace: Workspace, optimizer: ObjectVersion
    ) -> None:
        await workspace.optimizations.create_optimization(make_record("o1"))

        assert await workspace.optimizer_runs.begin(self.run_of(optimizer, "o1"))

        waiting = await workspace.run_jobs.waiting()
        assert [one.job_id for one in waiting] == ["o1"]
        line = await workspace.optimizer_runs.line("o1")
        assert line.record == replace(
            await workspace.optimizations.get_optimization("o1"), spec={}, checkpoint=None
        )
        assert line.run.started_at.endswith("Z")
        assert await workspace.optimizer_runs.get("o1") == line.run
        assert await workspace.optimizer_runs.running([optimizer.id]) == {optimizer.id: "o1"}

    async def test_there_are_never_two_at_once(
        self, workspace: Workspace, optimizer: ObjectVersion
    ) -> None:
        names = [f"o{n}" for n in range(6)]
        for name in names:
            await workspace.optimizations.create_optimization(make_record(name))

        outcomes = await asyncio.gather(
            *(workspace.optimizer_runs.begin(self.run_of(optimizer, name)) for name in names),
            return_exceptions=True,
        )

        assert outcomes.count(True) == 1
        refused = [one for one in outcomes if isinstance(one, ConflictError)]
        assert [one.code for one in refused] == ["already_running"] * 5
        assert await workspace.run_jobs.depth() == 1
        await self.finish(workspace, names[outcomes.index(True)])
        other = next(name for name in names if name != names[outcomes.index(True)])
        assert await workspace.optimizer_runs.begin(self.run_of(optimizer, other))

    async def test_a_due_time_is_claimed_once(
        self, workspace: Workspace, optimizer: ObjectVersion
    ) -> None:
        for name in ("o1", "o2"):
            await workspace.optimizations.create_optimization(make_record(name))
        first = self.run_of(optimizer, "o1", due_at="2026-01-01T02:00:00.000000Z")
        second = self.run_of(optimizer, "o2", due_at="2026-01-01T02:00:00.000000Z")

        assert await workspace.optimizer_runs.last_due([optimizer.id]) == {}
        assert await workspace.optimizer_runs.begin(first)
        await self.finish(workspace, "o1")

        assert not await workspace.optimizer_runs.begin(first)
        assert not await workspace.optimizer_runs.begin(second)
        last = await workspace.optimizer_runs.last_due([optimizer.id])
        assert last == {optimizer.id: first.due_at}
        later = replace(second, due_at="2026-01-02T02:00:00.000000Z")
        assert await workspace.optimizer_runs.begin(later)

    async def test_ended_runs_are_settled_once(
        self, workspace: Workspace, optimizer: ObjectVersion
    ) -> None:
        runs = workspace.optimizer_runs
        await workspace.optimizations.create_optimization(make_record("o1"))
        await runs.begin(self.run_of(optimizer, "o1", settled=False))
        assert await runs.unsettled() == []
        await self.finish(workspace, "o1")

        assert [one.id for one in await runs.unsettled()] == ["o1"]
        await runs.settle("o1", {"promoted": False, "reason": AWKWARD_JSON})
        await runs.settle("o1", {"promoted": True})

        assert await runs.unsettled() == []
        assert (await runs.get("o1")).promotion == {"promoted": False, "reason": AWKWARD_JSON}

    async def test_decided_runs_of_an_agent_on_one_version_of_a_suite_are_found(
        self, workspace: Workspace, optimizer: ObjectVersion
    ) -> None:
        runs = workspace.optimizer_runs
        for name, version in (("o1", 1), ("o2", 1), ("o3", 2)):
            await workspace.optimizations.create_optimization(make_record(name))
            run = replace(self.run_of(optimizer, name, settled=False), suite_version=version)
            await runs.begin(run)
            await self.finish(workspace, name)
        await runs.settle("o1", {"promoted": False, "look": 1})
        await runs.settle("o3", {"promoted": False, "look": 1})

        assert [one.id for one in await runs.decided(await runs.get("o2"))] == ["o1"]
        assert await runs.decided(await runs.get("o1")) == []

    async def test_runs_come_newest_first_with_the_winners_scores(
        self, workspace: Workspace, optimizer: ObjectVersion
    ) -> None:
        runs = workspace.optimizer_runs
        for name in ("o1", "o2"):
            lease = await begin(workspace.optimizations, candidates=2, identity=name)
            await runs.begin(self.run_of(optimizer, name))
            await self.score(workspace, f"e {name}", {"one": 0.25, "two": 1.0})
            trial = make_trial(1, name, experiment_id=f"e {name}")
            await workspace.optimizations.save_trial(lease, trial)
            await workspace.optimizations.save_checkpoint(
                lease, {}, best_candidate_id=f"{name}-1", best_score=0.5
            )
            await workspace.optimizations.save_status(lease, OptimizationStatus.COMPLETED)

        lines = await everything(lambda **o: runs.page(optimizer.id, **o))

        assert [one.run.id for one in lines] == ["o2", "o1"]
        assert all(one.scores == {"one": 0.25, "two": 1.0} for one in lines)
        assert await runs.find_run(optimizer.id, "o1-1") == "o1"
        for missing in ("o1-9", "none\x00"):
            with pytest.raises(UsageError):
                await runs.find_run(optimizer.id, missing)

    async def test_candidates_come_with_their_trials(
        self, workspace: Workspace, optimizer: ObjectVersion
    ) -> None:
        lease = await begin(workspace.optimizations, candidates=3)
        await workspace.optimizer_runs.begin(self.run_of(optimizer, "o1"))
        await self.score(workspace, "e1", {"one": 0.75})
        await workspace.optimizations.save_trial(lease, make_trial(1, experiment_id="e1"))

        lines = await everything(lambda **o: workspace.optimizer_runs.candidates("o1", **o))

        assert [one.candidate.number for one in lines] == [0, 1, 2]
        assert [one.trial is not None for one in lines] == [False, True, False]
        assert [one.scores for one in lines] == [{}, {"one": 0.75}, {}]

    async def test_without_a_trial_a_candidate_comes_with_its_telling_mini_batch(
        self, workspace: Workspace, optimizer: ObjectVersion
    ) -> None:
        lease = await begin(workspace.optimizations, candidates=3)
        await workspace.optimizer_runs.begin(self.run_of(optimizer, "o1"))
        summary = make_trial().summary
        for number, items, status in ((1, 8, "completed"), (1, 2, "completed"), (2, 1, "running")):
            batch = make_trial(
                number,
                experiment_id=f"m{number}-{items}",
                type=ExperimentType.MINI_BATCH,
                status=ExperimentStatus(status),
                summary=replace(summary, total_items=items),
            )
            await workspace.optimizations.save_trial(lease, batch)
        await workspace.optimizations.save_trial(lease, make_trial(0, experiment_id="e0"))
        batch = make_trial(0, experiment_id="m0", type=ExperimentType.MINI_BATCH)
        await workspace.optimizations.save_trial(lease, batch)

        lines = await everything(lambda **o: workspace.optimizer_runs.candidates("o1", **o))

        assert [one.trial.experiment_id for one in lines] == ["e0", "m1-8", "m2-1"]

    async def test_an_unknown_run_is_not_found(self, workspace: Workspace) -> None:
        for ask in (workspace.optimizer_runs.get, workspace.optimizer_runs.line):
            with pytest.raises(UsageError) as caught:
                await ask("none\x00")
            assert caught.value.code == "not_found"

    async def score(
        self, workspace: Workspace, experiment_id: str, scores: dict[str, float]
    ) -> None:
        await workspace.experiments.create_experiment(make_experiment(experiment_id))
        given = tuple(Score(value, name=name) for name, value in scores.items())
        result = replace(make_result("item"), scores=given)
        await workspace.experiments.save_results(experiment_id, [result])


class DatasetPagesContract:
    """Provide `workspace`."""

    async def test_datasets_come_newest_first(self, workspace: Workspace) -> None:
        for name in ("a", "b", "a"):
            stamp = f"{name}{len((await workspace.dataset_pages.datasets()).items)}"
            await workspace.datasets.ensure_dataset(name, stamp, [Item(id="1", data={"n": 1})])
        pages = workspace.dataset_pages

        found = await everything(pages.datasets)
        named = await everything(lambda **o: pages.datasets(name="a", **o))

        assert [one.name for one in found] == ["a", "b", "a"]
        assert [one.fingerprint for one in named] == ["a2", "a0"]
        assert await workspace.datasets.get_dataset(found[0].id) == found[0]

    async def test_rows_come_in_order_with_their_origin(self, workspace: Workspace) -> None:
        items = [Item(id=f"i{n} \x00", data={"n": n}, split="test") for n in range(5)]
        record = await workspace.datasets.ensure_dataset("d", "f", items)
        pages = workspace.dataset_pages

        await pages.add_origins(record.id, {"i3 \x00": {"from": AWKWARD_JSON}})
        await pages.add_origins(record.id, {"i3 \x00": {"from": "later"}})

        rows = await everything(lambda **o: pages.rows(record.id, **o))
        assert [one.item for one in rows] == items
        assert [one.origin for one in rows] == [None] * 3 + [{"from": AWKWARD_JSON}, None]
        assert await pages.origins(record.id) == {"i3 \x00": {"from": AWKWARD_JSON}}

    async def test_rows_of_nothing_are_not_found(self, workspace: Workspace) -> None:
        with pytest.raises(UsageError) as caught:
            await workspace.dataset_pages.rows("none")
        assert caught.value.code == "not_found"
