"""What every reader of overviews keeps to, and every search in rows."""

from __future__ import annotations

import pytest

from burnish.app.wiring import Workspace
from burnish.domain import (
    EventType,
    ExperimentStatus,
    ExperimentType,
    Item,
    OptimizationStatus,
    UsageError,
)
from burnish.domain.optimizations.pages import OptimizationFilter, ScoreMoments
from burnish.testing.samples.experiments import (
    AWKWARD_TEXTS,
    make_experiment,
    make_result,
)
from burnish.testing.samples.optimizations import (
    begin,
    make_event,
    make_mini_batch,
    make_record,
    make_trial,
)

NOTHING = "nothing of that name"
# Half a surrogate pair cannot be in a row.
_STORABLE = [one for one in AWKWARD_TEXTS if one and "\ud800" not in one]
SEARCHED = [*_STORABLE, 'in "quotes"', "two\nlines", "100%", "under_score"]


class RunInsightsContract:
    """Provide `workspace`."""

    async def test_spans_are_from_the_first_event_to_the_last(self, workspace: Workspace) -> None:
        lease = await begin(workspace.optimizations)
        await workspace.optimizations.create_optimization(make_record("o2"))
        for key in ("a", "b", "c"):
            await workspace.optimizations.append_events(lease, [make_event(key)])

        spans = await workspace.insights.spans(["o1", "o2", NOTHING, "o1"])
        events = await workspace.optimizations.list_events("o1")

        assert set(spans) == {"o1", "o2"}
        assert spans["o1"].first_event_at == events[0].created_at
        assert spans["o1"].last_event_at == events[-1].created_at
        assert spans["o2"].first_event_at is None

    async def test_documents_are_read_of_many_at_once(self, workspace: Workspace) -> None:
        lease = await begin(workspace.optimizations, candidates=1)
        await workspace.optimizations.save_checkpoint(lease, {"step": 3})
        await workspace.optimizations.save_status(
            lease, OptimizationStatus.COMPLETED, result={"text": AWKWARD_TEXTS[-1]}
        )
        await workspace.optimizations.create_optimization(make_record("o2"))

        results = await workspace.insights.documents(["o1", "o2"], "result")
        checkpoints = await workspace.insights.documents(["o1", "o2"], "checkpoint")

        assert results == {"o1": {"text": AWKWARD_TEXTS[-1]}}
        assert checkpoints == {"o1": {"step": 3}}
        assert await workspace.insights.documents([], "result") == {}

    async def test_facets_count_every_value(self, workspace: Workspace) -> None:
        for number, agent in enumerate(("b", "a", "b")):
            await workspace.optimizations.create_optimization(
                make_record(f"o{number}", agent_name=agent)
            )

        facets = await workspace.insights.facets()

        assert list(facets.agents.items()) == [("a", 1), ("b", 2)]
        assert facets.statuses == {"initialized": 3}
        assert facets.optimizers == {"edits": 3}
        assert facets.suites == {"suite": 3}

    async def test_points_are_trials_and_mini_batches_by_number(self, workspace: Workspace) -> None:
        lease = await begin(workspace.optimizations, candidates=3)
        awkward = AWKWARD_TEXTS[-1]
        await workspace.experiments.create_experiment(
            make_experiment("experiment 1", type=ExperimentType.TRIAL)
        )
        for one in (
            make_mini_batch(1, "small", objective_score=1.0),
            make_trial(1),
            make_trial(0),
            make_trial(2, status=ExperimentStatus.FAILED, objective_score=None, error=awkward),
        ):
            await workspace.optimizations.save_trial(lease, one)

        points = await workspace.insights.points("o1")
        own = await workspace.insights.points("o1", candidate_id="o1-1")

        assert [(one.number, one.type) for one in points] == [
            (0, ExperimentType.TRIAL),
            (1, ExperimentType.TRIAL),
            (1, ExperimentType.MINI_BATCH),
            (2, ExperimentType.TRIAL),
        ]
        assert own == points[1:3]
        assert points[1].parent_candidate_ids == ("o1-0",)
        assert points[1].created_at is not None
        assert points[0].created_at is None, "nothing is known of its experiment"
        assert (points[3].status, points[3].error) == (ExperimentStatus.FAILED, awkward)
        assert await workspace.insights.points(NOTHING) == []

    async def test_moments_are_over_items_and_not_over_repeats(self, workspace: Workspace) -> None:
        await workspace.experiments.create_experiment(make_experiment("e"))
        results = [
            make_result("a", repeat=0, score=1.0),
            make_result("a", repeat=1, score=0.0),
            make_result("b", repeat=0, score=1.0),
            make_result("b", repeat=1, score=1.0),
        ]
        await workspace.experiments.save_results("e", results)

        found = await workspace.insights.score_moments(["e", NOTHING])

        assert found == {"e": ScoreMoments(items=2, mean=0.75, mean_square=0.625)}

    async def test_held_out_runs_are_those_that_confirmed(self, workspace: Workspace) -> None:
        await begin(workspace.optimizations)
        for name, role in (("h", "confirmation"), ("other", "something else")):
            await workspace.experiments.create_experiment(
                make_experiment(
                    name,
                    type=ExperimentType.REGULAR,
                    optimization_id="o1",
                    metadata={"role": role, "candidate_id": "o1-4"},
                )
            )

        found = await workspace.insights.held_out("o1")

        assert [(one.experiment_id, one.candidate_id) for one in found] == [("h", "o1-4")]
        assert await workspace.insights.held_out(NOTHING) == []

    async def test_a_candidate_is_found_before_it_ran(self, workspace: Workspace) -> None:
        await begin(workspace.optimizations, candidates=2)

        found = await workspace.insights.candidate("o1", "o1-1")

        assert (found.number, found.parent_candidate_ids) == (1, ("o1-0",))
        with pytest.raises(UsageError, match="no candidate") as caught:
            await workspace.insights.candidate("o1", NOTHING)
        assert caught.value.code == "not_found"

    async def test_events_are_read_forwards_and_backwards(self, workspace: Workspace) -> None:
        lease = await begin(workspace.optimizations)
        for number in range(5):
            await workspace.optimizations.append_events(lease, [make_event(f"k{number}", n=number)])

        async def ids(**wanted: object) -> list[int]:
            found = await workspace.insights.events("o1", **wanted)  # type: ignore[arg-type]
            return [one.sequence for one in found]

        assert await ids() == [1, 2, 3, 4, 5]
        assert await ids(after=2, limit=2) == [3, 4]
        assert await ids(newest=True, limit=2) == [5, 4]
        assert await ids(newest=True, after=4) == [3, 2, 1]
        assert await ids(types=[EventType.PROGRESS_CHANGED], limit=1) == [1]
        assert await ids(types=[EventType.RUN_FINISHED]) == []
        assert (await workspace.insights.events("o1", limit=1))[0].payload == {"n": 0}


class TextSearchContract:
    """Provide `workspace`."""

    async def test_optimizations_are_found_by_any_name(self, workspace: Workspace) -> None:
        plain = make_record("id-of-one", name="Nightly", agent_name="Router")
        await workspace.optimizations.create_optimization(plain)
        await workspace.optimizations.create_optimization(
            make_record("other", name="100% é", agent_name="desk", suite_name="under_score")
        )

        async def found(text: str) -> list[str]:
            page = await workspace.pages.optimizations(OptimizationFilter(text=text))
            return [one.id for one in page.items]

        assert await found("nIGHT") == ["id-of-one"]
        assert await found("rout") == ["id-of-one"]
        assert await found("ID-OF") == ["id-of-one"]
        assert await found("of-one") == [], "an id is found by its beginning"
        assert await found("0% é") == ["other"]
        assert await found("under_s") == ["other"]
        assert await found("underXs") == []
        assert await found("%") == ["other"]

    async def test_rows_are_found_by_what_is_in_them(self, workspace: Workspace) -> None:
        pages = workspace.dataset_pages
        rows = [Item(id="first", data={"text": "Nothing of it"})]
        rows += [
            Item(id=f"row {number}", data={"deep": [{"text": f"before {text} after"}]})
            for number, text in enumerate(SEARCHED)
        ]
        record = await workspace.datasets.ensure_dataset("rows", "fingerprint", rows)

        for number, text in enumerate(SEARCHED):
            page = await pages.rows(record.id, text=text)
            assert f"row {number}" in [one.item.id for one in page.items], text
            assert f"row {number}" in await pages.matching(record.id, text)
        assert await pages.matching(record.id, "FIRS") == {"first"}
        assert await pages.matching(record.id, "nothing OF") == {"first"}
        assert await pages.matching(record.id, NOTHING) == set()

    async def test_rows_are_found_by_their_ids(self, workspace: Workspace) -> None:
        rows = [Item(id=f"r{number}", data={"n": number}) for number in range(5)]
        record = await workspace.datasets.ensure_dataset("rows", "fingerprint", rows)

        found = await workspace.dataset_pages.find_rows(record.id, ["r3", NOTHING, "r1", "r3"])

        assert {name: row.position for name, row in found.items()} == {"r1": 1, "r3": 3}
        assert await workspace.dataset_pages.find_rows(record.id, []) == {}

    async def test_datasets_are_found_by_part_of_their_name(self, workspace: Workspace) -> None:
        for name in ("Reviews", "tickets"):
            await workspace.datasets.ensure_dataset(name, "f", [Item(id="r", data={"a": 1})])

        page = await workspace.dataset_pages.datasets(text="VIEW")

        assert [one.name for one in page.items] == ["Reviews"]
