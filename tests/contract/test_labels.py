"""Label sets: what every database keeps to, from making a set to its versions."""

import asyncio
import shutil
from dataclasses import replace

import pytest
from tests.contract.old_databases import make_old_database

from burnish.app.datasets.stored import load_dataset, stored_reference
from burnish.app.labels.label_sets import LabelSource, give_label, make_set, tasks_of
from burnish.app.labels.versions import (
    labels_csv,
    make_version,
    read_agreement,
    read_labels,
    version_rows,
)
from burnish.app.wiring import Workspace
from burnish.domain import AgentOutput, ConflictError, Item, UsageError
from burnish.domain.errors import RowsError
from burnish.domain.labels import LabelKind, LabelRules, LabelState
from burnish.evaluation.datasets import Dataset
from burnish.testing.samples.experiments import failed_result, make_experiment, make_result

PASSES = LabelRules(kind=LabelKind.PASS, instructions="Is it polite?")
AWKWARD = "nul \x00 and “quotes”, half \ud83d"


async def run_of(workspace, identity, answers):
    """An experiment on rows of which the last has no answer."""
    said = {"comment": "said before", "feedback": {"kind": 0}}
    rows = [{"q": f"{n}?", "label": "x", **said} for n in range(len(answers) + 1)]
    items = [Item(id=f"i{n}", data=row) for n, row in enumerate(rows)]
    record = await workspace.datasets.ensure_dataset("rows", "print", items)
    await workspace.experiments.create_experiment(make_experiment(identity, dataset_id=record.id))
    results = [
        make_result(f"i{n}", output=AgentOutput(text=text)) for n, text in enumerate(answers)
    ]
    results.append(failed_result(f"i{len(answers)}"))
    await workspace.experiments.save_results(identity, results)
    return identity


async def polite(workspace, count=4):
    run = await run_of(workspace, "1" * 36, [f"answer {n}" for n in range(count)])
    found = await make_set(workspace, "polite", PASSES, LabelSource(experiment=run), seed=3)
    return found.made


class LabelContract:
    """Provide `workspace`."""

    async def test_a_set_is_made_of_what_a_run_answered(self, workspace):
        made = await polite(workspace)

        assert await workspace.labels.get("polite") == made
        assert await workspace.labels.get(made.id) == made
        assert list((await workspace.labels.page(limit=5)).items) == [made]
        assert made.items == 4
        with pytest.raises(ConflictError, match="one of that name"):
            await polite_again(workspace)
        with pytest.raises(UsageError, match="no label set 'other'"):
            await workspace.labels.get("other")

    async def test_whoever_labels_sees_the_output_and_nothing_of_who_wrote_it(self, workspace):
        made = await polite(workspace)
        await give_label(workspace, made, "bob", "i1", value="fail", comment="told to nobody")

        page = await tasks_of(workspace, made, " ada ", limit=3)

        assert [one.position for one in page.tasks] == [0, 1, 2]
        rest = await tasks_of(workspace, made, "ada", start=3)
        shown = [*page.tasks, *rest.tasks]
        assert {one.item_id: (one.output, dict(one.fields)) for one in shown} == {
            f"i{n}": (f"answer {n}", {"q": f"{n}?", "label": "x"}) for n in range(4)
        }
        assert made.source["experiments"][0] not in repr(shown)
        assert "nobody" not in repr(shown)
        assert {(one.state, one.value, one.comment) for one in shown} == {(None, None, "")}

    async def test_a_label_is_kept_once_and_a_changed_one_has_a_history(self, workspace):
        made = await polite(workspace)
        given = [
            await give_label(workspace, made, "ada", "i0", **one)
            for one in (
                {"value": "pass", "comment": AWKWARD},
                {"value": "pass", "comment": AWKWARD},
                {"value": "fail"},
                {"state": LabelState.WITHDRAWN},
                {"state": LabelState.SKIPPED},
            )
        ]

        assert given == [True, False, True, True, True]
        history = await workspace.labels.labels(made.id, history=True)
        assert [(one.number, one.state.value, one.value, one.current) for one in history] == [
            (1, "labelled", "pass", False),
            (2, "labelled", "fail", False),
            (3, "withdrawn", None, False),
            (4, "skipped", None, True),
        ]
        assert history[0].comment == AWKWARD
        assert await workspace.labels.labels(made.id) == history[3:]
        with pytest.raises(UsageError, match="no item 'i9'"):
            await give_label(workspace, made, "ada", "i9", value="pass")
        with pytest.raises(UsageError, match="'meh' is neither"):
            await give_label(workspace, made, "ada", "i0", value="meh")

    async def test_labels_that_come_at_once_are_all_kept(self, workspace):
        made = await polite(workspace)

        await asyncio.gather(
            *(
                give_label(workspace, made, person, f"i{n}", value=value)
                for n in range(4)
                for person, value in (("ada", "pass"), ("bob", "pass"), ("ada", "fail"))
            )
        )

        progress = await workspace.labels.progress(made.id)
        assert {name: dict(one) for name, one in progress.items()} == {
            "ada": {LabelState.LABELLED: 4},
            "bob": {LabelState.LABELLED: 4},
        }
        history = await workspace.labels.labels(made.id, person="ada", history=True)
        assert [one.number for one in history] == 4 * [1, 2]
        assert sum(one.current for one in history) == 4

    async def test_work_goes_on_at_the_first_open_item_and_skipped_ones_come_last(self, workspace):
        made = await polite(workspace)
        order = [one.item_id for one in (await tasks_of(workspace, made, "ada")).tasks]
        await give_label(workspace, made, "ada", order[0], state=LabelState.SKIPPED)
        opened = []
        for item in order[1:]:
            opened.append((await tasks_of(workspace, made, "ada")).next_open)
            await give_label(workspace, made, "ada", item, value="pass")
        last = await tasks_of(workspace, made, "ada")
        await give_label(workspace, made, "ada", order[0], value="pass")
        done = await tasks_of(workspace, made, "ada")

        assert opened == [1, 2, 3]
        assert (last.next_open, last.labelled, last.skipped) == (0, 3, 1)
        assert (done.next_open, done.labelled, done.total) == (None, 4, 4)

    async def test_of_two_outputs_sides_are_drawn_and_the_preference_is_for_the_run(
        self, workspace
    ):
        first = await run_of(workspace, "1" * 36, [f"a{n}" for n in range(8)])
        second = await run_of(workspace, "2" * 36, ["a0", *(f"b{n}" for n in range(1, 8))])
        rules = LabelRules(kind=LabelKind.PREFERENCE)
        source = LabelSource(experiment=first, other_experiment=second)

        found = await make_set(workspace, "pairs", rules, source, seed=1)
        page = await tasks_of(workspace, found.made, "ada")
        for task in page.tasks:
            side = "left" if task.left.startswith("a") else "right"
            await give_label(workspace, found.made, "ada", task.item_id, value=side)

        assert found.left_out == {"answered alike by both": 1, "without an answer": 1}
        assert {one.left[0] for one in page.tasks} == {"a", "b"}
        kept = await workspace.labels.labels(found.made.id)
        assert {one.value for one in kept} == {"output"}
        assert {one.output_left for one in kept} == {True, False}
        seen = (await tasks_of(workspace, found.made, "ada")).tasks
        assert {(one.value, one.left[0]) for one in seen} == {("left", "a"), ("right", "b")}
        _, rows = await version_rows(workspace, "labels:pairs")
        data = next(iter(rows.items())).data
        assert (data["output"], data["other"], data["label"]) == ("a1", "b1", "output")
        with pytest.raises(UsageError, match="none of left, right, tie"):
            await give_label(workspace, found.made, "ada", "i1", value="output")
        with pytest.raises(UsageError, match="two experiments"):
            await make_set(workspace, "one", rules, LabelSource(experiment=first))

    async def test_a_version_is_what_was_said_then_and_a_dataset(self, workspace):
        made = await polite(workspace)
        with pytest.raises(UsageError, match="nothing is labelled"):
            await make_version(workspace, made)
        for person, values in {"ada": "ppf", "bob": "pfp"}.items():
            for n, value in enumerate(values):
                comment = f"{person} on {n}" if n == 0 else ""
                said = {"value": {"p": "pass", "f": "fail"}[value], "comment": comment}
                await give_label(workspace, made, person, f"i{n}", **said)
        await give_label(workspace, made, "eve", "i1", value="fail")

        first = await make_version(workspace, made, author="ada", note="first")
        same = await make_version(workspace, made)
        await give_label(workspace, made, "eve", "i2", value="fail")
        second = await make_version(workspace, made)

        assert first == same
        assert (first.version, first.rows, first.labels, first.undecided) == (1, 2, 7, 1)
        assert first.people == ("ada", "bob", "eve")
        assert (second.version, second.rows) == (2, 3)
        assert second.digest != first.digest
        assert await workspace.labels.versions(made.id) == [second, first]
        _, rows = await version_rows(workspace, "labels:polite@1")
        assert [(one.id, dict(one.data)) for one in rows.items()] == [
            (
                "i0",
                {
                    "q": "0?",
                    "item_label": "x",
                    "output": "answer 0",
                    "label": "pass",
                    "label_comment": "pass: ada on 0\npass: bob on 0",
                },
            ),
            ("i1", {"q": "1?", "item_label": "x", "output": "answer 1", "label": "fail"}),
        ]
        assert (await load_dataset(workspace.datasets, second.dataset_id)).name == "polite"
        _, given = await workspace.labels.version(made.id, 1)
        assert len(given) == 7
        assert ["i1", "eve", "fail", ""] in given
        with pytest.raises(ConflictError, match="version of the label set 'polite'"):
            await workspace.removals.dataset(first.dataset_id, stored_reference(first.dataset_id))
        await workspace.labels.delete(made.id)
        with pytest.raises(UsageError, match="no label set"):
            await workspace.labels.get("polite")
        await workspace.datasets.get_dataset(first.dataset_id)

    async def test_labels_go_out_as_csv_and_in_again_with_each_bad_row_named(
        self, workspace, tmp_path
    ):
        made = await polite(workspace)
        for n in range(3):
            await give_label(workspace, made, "ada", f"i{n}", value="pass", comment='"a",\nb')
        text = labels_csv(await workspace.labels.labels(made.id))
        file = tmp_path / "labels.csv"
        file.write_text(text)

        assert await read_labels(workspace, made, file) == (3, 0)
        assert await read_labels(workspace, made, file, person="bob") == (3, 3)
        agreement, differing = await read_agreement(workspace, made)
        assert (agreement.unanimous.value, agreement.pairs[0].kappa, differing) == (1.0, None, [])
        file.write_text("item_id,label,person\ni0,pass,\ni7,pass,eve\ni1,no idea,eve\ni2,,eve\n")
        with pytest.raises(RowsError) as refused:
            await read_labels(workspace, made, file)
        assert [place for place, _ in refused.value.problems] == ["line 2", "line 3", "line 4"]
        assert "no item 'i7'" in refused.value.problems[1][1]
        assert "eve" not in await workspace.labels.progress(made.id)

    async def test_rows_of_a_dataset_are_labelled_without_what_was_said_of_them(self, workspace):
        rows = [
            {"id": "a", "text": "hi", "label": "x", "feedback": {"helpful": 0}, "comment": "bad"},
            {"id": "b", "text": "ho"},
        ]
        rules = LabelRules(kind=LabelKind.CLASS, classes=("x", "y"))
        source = LabelSource(dataset=Dataset.of(rows))

        made = (await make_set(workspace, "classes", rules, source)).made
        page = await tasks_of(workspace, made, "ada")

        assert sorted(one.fields["text"] for one in page.tasks) == ["hi", "ho"]
        assert {tuple(one.fields) for one in page.tasks} == {("text",)}
        chosen = replace(source, fields=("text", "comment"))
        wide = (await make_set(workspace, "wide", rules, chosen)).made
        tasks = (await tasks_of(workspace, wide, "ada")).tasks
        assert {tuple(one.fields) for one in tasks} == {("text",), ("text", "comment")}


async def polite_again(workspace):
    source = LabelSource(dataset=Dataset.of([{"a": 1}]))
    await make_set(workspace, "polite", PASSES, source)


class TestSqlite(LabelContract):
    @pytest.fixture
    async def workspace(self, sqlite_template, tmp_path):
        path = shutil.copy(sqlite_template, tmp_path / "burnish.db")
        async with Workspace.open(str(path)) as opened:
            yield opened

    async def test_a_database_of_before_has_no_labels_and_takes_some(self, tmp_path):
        path = str(tmp_path / "old" / "burnish.db")
        await asyncio.to_thread(make_old_database, path, "0017")

        async with Workspace.open(path) as opened:
            made = await polite(opened)
            assert await give_label(opened, made, "ada", "i0", value="pass")


class TestPostgres(LabelContract):
    @pytest.fixture
    async def workspace(self, postgres_url):
        async with Workspace.open(postgres_url) as opened:
            yield opened
