"""What every store of Opik clients' records and of mirrors fulfils: give it a `workspace`."""

from __future__ import annotations

import pytest

from burnish.app.wiring import Workspace
from burnish.domain import UsageError
from burnish.domain.opik import MirrorTarget, OpikDataset, OpikItem, OpikRow, OpikScore
from burnish.testing.samples.optimizations import begin


class OpikRecordsContract:
    """What was sent comes back, however often and in whatever order it was sent."""

    async def test_a_project_has_one_id_in_a_workspace(self, workspace: Workspace) -> None:
        """And is found by it."""
        first, again, other = [
            await workspace.opik.project_id(*which)
            for which in (("w", "p é"), ("w", "p é"), ("x", "p é"))
        ]

        assert first == again != other
        assert await workspace.opik.project_name(first) == "p é"
        assert await workspace.opik.project_name("none") is None

    async def test_a_name_has_one_dataset_in_a_workspace(self, workspace: Workspace) -> None:
        """Who comes second gets the first one's."""
        first = OpikDataset(id="d1", workspace="w", name="n", document={"description": "é\x00"})
        await workspace.opik.add_dataset(first)

        again = await workspace.opik.add_dataset(OpikDataset(id="d2", workspace="w", name="n"))
        other = await workspace.opik.add_dataset(OpikDataset(id="d3", workspace="x", name="n"))

        assert (again.id, again.document) == ("d1", {"description": "é\x00"})
        assert other.id == "d3"
        assert await workspace.opik.find_dataset("w", "m") is None
        with pytest.raises(UsageError) as refused:
            await workspace.opik.get_dataset("d2")
        assert refused.value.code == "not_found"

    async def test_rows_keep_their_order_and_a_change_its_place(self, workspace: Workspace) -> None:
        """Rows are upserted by id, also twice in one batch."""
        records = workspace.opik
        await records.add_dataset(OpikDataset(id="d1", workspace="w", name="n"))
        await records.put_rows("d1", [_row("b", 1), _row("a", 1), _row("a", 2)])
        await records.note_snapshot("d1", "s", rows=2)
        kept = (await records.get_dataset("d1")).snapshot

        await records.put_rows("d1", [_row("b", 3), _row("c", 4)])
        await records.note_snapshot("d1", "stale", rows=2)

        rows = await records.rows("d1", limit=9)
        assert [(one.id, one.document) for one in rows] == [
            ("b", {"data": 3}),
            ("a", {"data": 2}),
            ("c", {"data": 4}),
        ]
        assert [one.id for one in await records.rows("d1", limit=1, offset=1)] == ["a"]
        assert [one.id for one in await records.rows("d1", limit=9, after="a")] == ["c"]
        assert await records.count_rows("d1") == 3
        assert (kept, (await records.get_dataset("d1")).snapshot) == ("s", None)

    async def test_the_later_of_two_documents_wins_field_by_field(
        self, workspace: Workspace
    ) -> None:
        """By the time that it was updated, not by the time that it came."""
        records = workspace.opik
        early = {"id": "t", "name": "n", "output": 1, "end_time": None, "last_updated_at": "1"}
        late = {"id": "t", "output": 2, "input": None, "last_updated_at": "2"}
        await records.put_items([_item("i", "t")])

        await records.put_traces([late])
        await records.put_traces([early])

        [run] = await records.runs("e")
        assert run.trace == {"id": "t", "name": "n", "output": 2, "last_updated_at": "2"}

    async def test_a_run_has_what_came_in_about_it(self, workspace: Workspace) -> None:
        """Nothing has to be there first."""
        records = workspace.opik
        await records.put_scores([_score("t1", "m", 0), _score("t1", "m", 1), _score("t9", "m", 1)])
        await records.put_spans([{"id": "s1", "trace_id": "t1"}, {"id": "s2", "trace_id": "t9"}])
        items = [_item("i2", "t2", "row 2"), _item("i1", "t1")]
        await records.put_items(items)
        await records.put_items(items)

        first, second = await records.runs("e")
        assert (first.item.id, second.item.id) == ("i1", "i2")
        assert [one.document for one in first.scores] == [{"value": 1}]
        assert [one["id"] for one in first.spans] == ["s1"]
        assert (second.trace, list(second.scores)) == (None, [])
        assert [one.item.id for one in await records.runs("e", ["row 2"])] == ["i2"]
        assert await records.experiments_of(["t1", "t2", "t9"]) == {"e": {"row 1", "row 2"}}


class MirrorBookContract:
    """A mirror is open until it is closed, and its marks stay."""

    async def test_marks_stay_with_their_mirror(self, workspace: Workspace) -> None:
        """Also when it is closed and opened again."""
        await begin(workspace.optimizations)
        here, there = MirrorTarget(url="http://a"), MirrorTarget(url="http://b", workspace="w")
        book = workspace.mirrors
        await book.enrol("o1", here)
        await book.enrol("o1", there)
        first, second = await book.open_mirrors()

        await book.mark(first, "part", "running")
        await book.mark(first, "part", "completed")
        await book.note_error(second, "it is away")
        await book.close(first)

        assert (first.target, second.target) == (here, there)
        assert [one.error for one in await book.open_mirrors()] == ["it is away"]
        await book.enrol("o1", here)
        assert len(await book.open_mirrors()) == 2
        assert await book.delivered(first) == {"part": "completed"}
        assert await book.delivered(second) == {}


def _row(identity: str, data: int) -> OpikRow:
    return OpikRow(id=identity, document={"data": data})


def _item(identity: str, trace: str, row: str = "row 1") -> OpikItem:
    return OpikItem(id=identity, experiment_id="e", item_id=row, trace_id=trace)


def _score(trace: str, name: str, value: int) -> OpikScore:
    return OpikScore(trace_id=trace, name=name, document={"value": value})
