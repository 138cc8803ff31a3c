"""Image runs on a real database and real files, by several servers at once."""

import asyncio
from contextlib import asynccontextmanager

import pytest
from tests.support.image_samples import make_request

from burnish.app.images.executor import ImageExecutor
from burnish.app.images.models import ImageModels
from burnish.app.images.runs import ImageRuns
from burnish.app.images.settings import ImageSettings
from burnish.app.wiring import Workspace
from burnish.config.schema import ImagesTable
from burnish.domain.images.runs import ImageRunStatus
from burnish.images.models.scripted import ScriptedImageJudge, ScriptedImageModel
from burnish.images.rounds import RoundsBudget
from burnish.jobs.executor import ExecutorSettings

WISH = make_request(image_model="scripted", judge_model="scripted")


class Thinking(ScriptedImageModel):
    """Its edits come to no end until `go` is set."""

    def __init__(self):
        super().__init__()
        self.begun, self.go = asyncio.Event(), asyncio.Event()

    async def edit(self, base, prompt, *, quality):
        self.begun.set()
        await self.go.wait()
        return await super().edit(base, prompt, quality=quality)


class Meeting(ScriptedImageModel):
    """Draws once all of `drawing` have something to draw, each in a server of its own."""

    def __init__(self, drawing):
        super().__init__()
        self._here = asyncio.Event()
        self._drawing = drawing
        drawing.append(self._here)

    async def generate(self, prompt, *, quality):
        self._here.set()
        for one in self._drawing:
            await one.wait()
        return await super().generate(prompt, quality=quality)


@asynccontextmanager
async def serving(tmp_path, model, judge=None, *, execute=True, **table):
    """One server on the folder's database, with models of its own."""
    database = str(tmp_path / "burnish.db")
    settings = ImageSettings(folder=tmp_path, table=ImagesTable(**table))
    async with Workspace.open(database) as workspace:
        models = ImageModels(
            settings,
            workspace.model,
            drawing={"scripted": model},
            judging={"scripted": judge or ScriptedImageJudge()},
        )
        async with ImageRuns.open(workspace, database, settings, models=models) as images:
            if not execute:
                yield images
                return
            async with ImageExecutor(workspace, images, ExecutorSettings(look_seconds=0.05)):
                yield images


async def ended(images, run_id):
    async with asyncio.timeout(600):
        while not (run := await images.repository.run(run_id)).status.ended:
            await asyncio.sleep(0.01)
    return run


async def test_two_servers_share_a_queue_and_carry_out_each_run_once(tmp_path):
    # Each has room for half of the runs, and ends none before the other has begun one.
    drawing = []
    models = Meeting(drawing), Meeting(drawing)
    async with serving(tmp_path, models[0], execute=False) as images:
        names = [(await images.create(WISH)).run_id for _ in range(8)]
        first, second = (serving(tmp_path, one, max_calls=2) for one in models)
        async with first, second:
            runs = [await ended(images, name) for name in names]
        commits = (await images.repository.commits("p1")).items

    assert {run.status for run in runs} == {ImageRunStatus.COMPLETED}
    assert sum(model.calls for model in models) == 8 * 3
    assert all(model.calls for model in models)
    assert all(model.most_in_flight <= 2 for model in models)
    assert len({one.commit_id for one in commits}) == len(commits) == 8 * 3


async def test_a_cancellation_from_another_process_is_heard_while_models_think(tmp_path):
    model = Thinking()
    async with serving(tmp_path, model), serving(tmp_path, model, execute=False) as other:
        run_id = (await other.create(WISH)).run_id
        await model.begun.wait()
        with pytest.raises(Exception, match="builds on it"):
            await other.repository.delete_commit(
                (await other.repository.run(run_id)).anchor_commit_id
            )
        await other.cancel(run_id)

        run = await ended(other, run_id)

    assert run.status is ImageRunStatus.CANCELLED
    assert run.anchor_commit_id is not None
    assert model.edits == 0


async def test_a_server_that_stops_gives_its_runs_to_another(tmp_path):
    first, second = Thinking(), ScriptedImageModel()
    async with serving(tmp_path, first) as images:
        run_id = (await images.create(WISH)).run_id
        await first.begun.wait()
    async with serving(tmp_path, second) as images:
        run = await ended(images, run_id)

    assert run.status is ImageRunStatus.COMPLETED
    # The anchor is the first one's; only the variants were still to be drawn.
    assert (first.calls, second.calls, second.edits) == (1, 2, 2)


async def test_a_place_that_takes_no_files_fails_the_run_as_retryable(tmp_path):
    (tmp_path / "images").write_text("not a folder")
    async with serving(tmp_path, ScriptedImageModel()) as images:
        run = await ended(images, (await images.create(WISH)).run_id)

    assert run.status is ImageRunStatus.FAILED
    assert run.error["code"] == "STORAGE_WRITE_FAILED"
    assert run.error["retryable"] is True
    assert run.spending.total.calls == 1


async def test_the_offline_models_make_a_whole_history(tmp_path):
    """With nothing scripted: drawn, judged, ranked, compared, and on a sheet."""
    database = str(tmp_path / "burnish.db")
    settings = ImageSettings(folder=tmp_path)
    wish = make_request(base_prompt="a red boat on the sea at night", constraints=WISH.constraints)
    async with (
        Workspace.open(database) as workspace,
        ImageRuns.open(workspace, database, settings) as images,
    ):
        result = await images.optimize(wish, budget=RoundsBudget(rounds=2, min_margin=0.0))
        run = result.rounds[0].run
        scores = [one.composite_score for one in run.leaderboard]
        lineage = await images.lineage("p1")
        sheet = await images.contact_sheet(run.run_id)
        compared = await images.repository.comparison(result.rounds[0].comparison_id)

    assert run.status is ImageRunStatus.COMPLETED
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == len(scores)
    assert compared.changed_share > 0
    assert compared.right_rubric == result.rounds[0].winner.rubric
    assert len(lineage.edges) == len(lineage.commits) - 1
    assert sheet.startswith(b"\x89PNG")
    assert sorted(one.name for one in tmp_path.iterdir() if one.is_dir()) == ["images"]
