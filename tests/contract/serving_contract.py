"""What every reader of pages and every feed of events keeps to."""

from __future__ import annotations

from typing import Any

import pytest

from burnish.app.wiring import Workspace
from burnish.domain import ExperimentStatus, OptimizationStatus, Outcome, RoundEnd, UsageError
from burnish.domain.optimizations.pages import (
    ItemFilter,
    OptimizationFilter,
    OptimizationOrder,
    TrialOrder,
)
from burnish.testing.samples.experiments import (
    AWKWARD_TEXTS,
    failed_result,
    make_experiment,
    make_refinement,
    make_result,
    make_rounds,
)
from burnish.testing.samples.optimizations import (
    begin,
    make_event,
    make_mini_batch,
    make_record,
    make_rejection,
    make_trial,
)


class OptimizationPagesContract:
    """Provide `workspace`."""

    @pytest.mark.parametrize("order", list(OptimizationOrder))
    async def test_pages_of_optimizations_lose_and_repeat_none(
        self, workspace: Workspace, order: OptimizationOrder
    ) -> None:
        for number in range(7):
            score = None if number % 3 == 0 else 0.5
            await workspace.optimizations.create_optimization(
                make_record(f"o{number}", name=f"n{number % 2}", best_score=score)
            )

        found, place = [], None
        while True:
            page = await workspace.pages.optimizations(
                OptimizationFilter(), order=order, limit=2, after=place
            )
            found += list(page.items)
            place = page.next
            if place is None:
                break

        assert sorted(one.id for one in found) == [f"o{number}" for number in range(7)]
        name = order.value.removeprefix("-")
        keys = [-1 if (key := getattr(one, name)) is None else key for one in found]
        assert keys == sorted(keys, reverse=order.value.startswith("-"))

    async def test_filters_narrow_the_list(self, workspace: Workspace) -> None:
        for identity, agent, status in (
            ("a", "router", OptimizationStatus.COMPLETED),
            ("b", "router", OptimizationStatus.FAILED),
            ("c", "other", OptimizationStatus.FAILED),
        ):
            await workspace.optimizations.create_optimization(
                make_record(identity, agent_name=agent, status=status, name=f"Run {identity}_%")
            )

        async def ids(**wanted: Any) -> list[str]:
            page = await workspace.pages.optimizations(OptimizationFilter(**wanted))
            return sorted(one.id for one in page.items)

        assert await ids(agent="router") == ["a", "b"]
        assert await ids(statuses=[OptimizationStatus.FAILED]) == ["b", "c"]
        assert await ids(statuses=list(OptimizationStatus), name="RUN B_%") == ["b"]
        assert await ids(name="%") == ["a", "b", "c"]
        assert await ids(name="x%") == []
        assert await ids(suite="suite", optimizer="edits") == ["a", "b", "c"]
        counts = await workspace.pages.status_counts()
        assert counts == {OptimizationStatus.COMPLETED: 1, OptimizationStatus.FAILED: 2}

    @pytest.mark.parametrize("text", AWKWARD_TEXTS)
    async def test_any_text_can_be_looked_for(self, workspace: Workspace, text: str) -> None:
        await workspace.optimizations.create_optimization(make_record(name=text, agent_name=text))

        by_name = await workspace.pages.optimizations(OptimizationFilter(name=text))
        by_agent = await workspace.pages.optimizations(OptimizationFilter(agent=text))

        assert [one.name for one in (*by_name.items, *by_agent.items)] == [text, text]

    @pytest.mark.parametrize("order", list(TrialOrder))
    async def test_pages_of_trials_lose_and_repeat_none(
        self, workspace: Workspace, order: TrialOrder
    ) -> None:
        lease = await begin(workspace.optimizations, candidates=6)
        for number in range(6):
            score = None if number == 3 else (number % 3) / 10
            trial = make_trial(number, objective_score=score, error="why\x00" if number else None)
            await workspace.optimizations.save_trial(lease, trial)
        await workspace.optimizations.save_trial(lease, make_mini_batch(2, "batch"))

        async def numbers(**options: Any) -> list[int]:
            found, place = [], None
            while True:
                page = await workspace.pages.trials(
                    "o1", order=order, limit=2, after=place, **options
                )
                found += list(page.items)
                place = page.next
                if place is None:
                    return [one.number for one in found]

        assert sorted(await numbers()) == [0, 1, 2, 3, 4, 5]
        assert sorted(await numbers(mini_batches=True)) == [0, 1, 2, 2, 3, 4, 5]
        assert await numbers(statuses=[ExperimentStatus.FAILED]) == []

    async def test_one_trial_lineage_and_counts(self, workspace: Workspace) -> None:
        lease = await begin(workspace.optimizations, candidates=3)
        for number in (0, 1):
            await workspace.optimizations.save_trial(lease, make_trial(number))
        await workspace.optimizations.save_step(
            lease, candidates=[], rejections=[make_rejection(n) for n in range(3)], checkpoint={}
        )

        candidate, trial = await workspace.pages.trial("o1", "o1-1")
        nodes = await workspace.pages.lineage("o1")
        counts = await workspace.pages.counts("o1")
        first = await workspace.pages.rejections("o1", limit=2)
        rest = await workspace.pages.rejections("o1", limit=2, after=first.next)

        assert candidate.configuration.sections["system"] == "Route, version 1."
        assert trial == make_trial(1)
        assert [(one.number, one.status) for one in nodes] == [
            (0, ExperimentStatus.COMPLETED),
            (1, ExperimentStatus.COMPLETED),
            (2, None),
        ]
        assert nodes[1].parent_candidate_ids == ("o1-0",)
        assert counts.trials == {ExperimentStatus.COMPLETED: 1}
        assert (counts.candidates, counts.rejections) == (3, 3)
        assert [one.proposed_index for one in (*first.items, *rest.items)] == [0, 1, 2]
        with pytest.raises(UsageError, match="mini-batches"):
            await workspace.pages.trial("o1", "o1-2")
        with pytest.raises(UsageError, match="no candidate"):
            await workspace.pages.trial("o1", "another")

    async def test_items_come_in_pages_with_their_scores(self, workspace: Workspace) -> None:
        await workspace.experiments.create_experiment(make_experiment(optimization_id="o1"))
        made = [make_result(f"i{n}", repeat) for n in range(3) for repeat in range(2)]
        await workspace.experiments.save_results("e1", [*made, failed_result("z")])

        found, place = [], None
        while True:
            page = await workspace.pages.items("e1", limit=2, after=place)
            found += list(page.items)
            place = page.next
            if place is None:
                break
        failing = await workspace.pages.items("e1", wanted=ItemFilter(failing=True))

        assert [one.result for one in found] == [*made, failed_result("z")]
        assert [one.result.item_id for one in failing.items] == ["z"]

    async def test_items_come_with_their_rounds_and_are_found_by_what_became_of_them(
        self, workspace: Workspace
    ) -> None:
        await workspace.experiments.create_experiment(make_experiment())
        worse = make_refinement(first_score=0.4, latest_score=0.1, ended=RoundEnd.LIMIT)
        rounds = make_rounds("fixed", 0.4, 1.0, ended=RoundEnd.PERFECT)
        results = [
            make_result("fixed", refinement=make_refinement()),
            make_result("plain"),
            make_result("single", refinement=make_refinement(rounds=0)),
            make_result("worse", refinement=worse),
        ]
        await workspace.experiments.save_results("e1", results, rounds=rounds)

        async def found(**wanted: Any) -> list[str]:
            page = await workspace.pages.items("e1", wanted=ItemFilter(**wanted))
            return [one.result.item_id for one in page.items]

        everything = await workspace.pages.items("e1")
        assert [one.number for one in everything.items[0].rounds] == [0, 1]
        assert everything.items[1].rounds == ()
        assert await found(refined=True) == ["fixed", "worse"]
        assert await found(outcome=Outcome.FIXED) == ["fixed"]
        assert await found(outcome=Outcome.WORSENED) == ["worse"]
        assert await found(outcome=Outcome.NOT_REFINED) == ["single"]
        assert await found(ended=RoundEnd.LIMIT) == ["worse"]
        assert await found(ended=RoundEnd.PERFECT, refined=True) == ["fixed"]

    @pytest.mark.parametrize("place", [[], ["x"], [1, 2], [None], [10**30, ""], [True, ""]])
    async def test_a_place_that_is_none_is_refused(
        self, workspace: Workspace, place: list[Any]
    ) -> None:
        await begin(workspace.optimizations, candidates=1)

        with pytest.raises(UsageError, match="cursor"):
            await workspace.pages.trials("o1", after=place)


class EventFeedContract:
    """Provide `workspace`."""

    async def test_events_of_many_are_read_together(self, workspace: Workspace) -> None:
        for identity in ("a", "b", "c"):
            lease = await begin(workspace.optimizations, identity=identity)
            if identity != "c":
                events = [make_event(str(number)) for number in range(3)]
                await workspace.optimizations.append_events(lease, events)

        positions = await workspace.feed.positions(["a", "b", "c", "nothing", "a"])
        found = await workspace.feed.after({"a": 1, "b": 3, "c": 0, "nothing": 0}, limit=10)
        first = await workspace.feed.after({"a": 0}, limit=2)

        assert positions == {"a": 3, "b": 3, "c": 0}
        assert {one: [e.sequence for e in events] for one, events in found.items()} == {"a": [2, 3]}
        assert [e.sequence for e in first["a"]] == [1, 2]
        assert await workspace.feed.positions([]) == {}

    async def test_writers_here_tell_who_listens(self, workspace: Workspace) -> None:
        told: list[str] = []
        workspace.listeners.append(told.append)
        lease = await begin(workspace.optimizations)

        await workspace.optimizations.append_events(lease, [make_event("k")])
        await workspace.optimizations.append_events(lease, [])

        assert told == ["o1"]
