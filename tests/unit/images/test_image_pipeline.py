"""A run through all its stages, and what becomes of it when something fails."""

import asyncio

import pytest
from image_world import FULL, PROMPT, REFUSED, TIMEOUT, World, planned, rubric, text_model
from tests.support.image_leases import keep_run, take_run
from tests.support.image_samples import make_commit

from burnish.domain import (
    ConflictError,
    InvariantError,
    PaidAnswerError,
    UnavailableError,
    Usage,
    UsageError,
)
from burnish.domain.images.runs import CommitStatus, ImageRunStatus, VariantStatus
from burnish.images.judging import NEUTRAL
from burnish.images.models.scripted import ScriptedImageJudge, ScriptedImageModel, flat_picture
from burnish.images.pictures import decode
from burnish.models.scripted import ScriptedModel

COMPLETED, DEGRADED = ImageRunStatus.COMPLETED, ImageRunStatus.COMPLETED_DEGRADED
SUGGESTED = {
    "conservative": "a red one again",
    "balanced": "a red one better",
    "aggressive": "a red one anew",
}


async def with_parent(world, **changes):
    """A commit with a stored picture."""
    data = flat_picture("the parent")
    image = decode(data)
    await world.files.put(image.digest, data)
    return await world.repository.add_commit(make_commit("parent", images=(image,), **changes))


async def test_a_run_goes_through_its_stages_in_order():
    world = World()

    run = await world.run()

    seen = list(dict.fromkeys(one.status.value for one in world.repository.saved))
    assert seen == ["planning", "generating", "evaluating", "refining", "completed"]
    assert run.stage is ImageRunStatus.REFINING
    assert run.completed_at is not None
    assert not run.degraded
    assert [one.revision for one in world.told] == [one.revision for one in world.repository.saved]


async def test_without_a_parent_an_anchor_is_drawn_and_committed_as_a_root():
    world = World()

    run = await world.run()

    anchor = await world.repository.commit(run.anchor_commit_id)
    assert (anchor.parent_commit_id, anchor.prompt) == (None, PROMPT)
    assert anchor.can_be_parent
    assert world.image.calls_by_prompt[PROMPT] == 1
    assert world.files.stored[anchor.images[0].digest] == flat_picture(PROMPT)


async def test_with_a_parent_that_is_the_anchor_and_nothing_new_is_drawn_for_it():
    world = World()
    await with_parent(world)

    run = await world.run(parent_commit_id="parent")

    assert run.anchor_commit_id == "parent"
    assert world.image.calls == world.image.edits == 3
    assert set(world.image.bases) == {flat_picture("the parent")}


async def test_variants_are_edits_of_the_anchor_and_its_children():
    world = World()

    run = await world.run()

    assert set(world.image.bases) == {flat_picture(PROMPT)}
    for variant in run.variants:
        commit = await world.repository.commit(variant.commit_id)
        assert commit.parent_commit_id == variant.parent_commit_id == run.anchor_commit_id
        assert commit.status is CommitStatus.SUCCESS
        assert commit.images == (variant.image,)
        assert (commit.prompt, commit.run_id) == (variant.variant_prompt, run.run_id)
        assert commit.score == variant.composite_score
        assert variant.generation_latency_ms is not None
        assert variant.judge_latency_ms is not None


async def test_ranks_follow_the_scores_and_the_top_is_named():
    scores = iter([0.2, 0.9, 0.5])
    world = World(judge=ScriptedImageJudge(verdict=lambda _: rubric(next(scores))))

    run = await world.run()

    ranks = {one.variant_id: (one.rank, one.rubric.prompt_adherence) for one in run.variants}
    assert sorted(ranks.values()) == [(1, 0.9), (2, 0.5), (3, 0.2)]
    assert run.top_k == tuple(one.variant_id for one in run.leaderboard)
    assert run.leaderboard[0].composite_score == round(0.35 * 0.9 + 0.55 * 0.5, 4)


async def test_with_two_variants_the_top_has_two():
    run = await World().run(n_variants=2)

    assert len(run.variants) == len(run.top_k) == 2


async def test_pictures_are_judged_by_what_was_asked_for():
    world = World()

    await world.run()

    assert world.judge.calls_by_prompt == {PROMPT: 3}


async def test_spending_is_recorded_by_purpose():
    world = World(
        image=ScriptedImageModel(cost_usd=0.04),
        judge=ScriptedImageJudge(cost_usd=0.01),
        text=text_model(
            planned("one lighthouse", "two lighthouses by the sea", "three at sea"), SUGGESTED
        ),
    )

    run = await world.run()

    calls = {name: usage.calls for name, usage in run.spending.by_purpose.items()}
    assert calls == {"plan": 1, "generate": 4, "judge": 3, "suggest": 1}
    assert run.spending.total.cost_usd == pytest.approx(0.19)
    assert run.suggestions.balanced == "a red one better"
    assert run.status is COMPLETED


async def test_a_failed_generation_is_a_failed_commit_and_degrades_the_run():
    world = World(image=ScriptedImageModel(failures={"Relight": TIMEOUT}))

    run = await world.run()

    assert run.status is DEGRADED
    failed = run.variants[1]
    assert failed.status is VariantStatus.EVALUATION_SKIPPED
    assert failed.error["code"] == "OPENAI_TIMEOUT"
    assert (failed.rank, failed.rubric, failed.image) == (None, None, None)
    states = [one.variants[1].status for one in world.repository.saved if one.variants]
    assert VariantStatus.GENERATION_FAILED in states
    commit = await world.repository.commit(failed.commit_id)
    assert (commit.status, commit.images) == (CommitStatus.FAILED, ())
    assert "took too long" in commit.error
    assert len(run.leaderboard) == 2
    assert "v02 was not drawn" in run.degradations[0]


async def test_a_refused_prompt_fails_its_variant_alone():
    run = await World(image=ScriptedImageModel(failures={"Relight": REFUSED})).run()

    assert run.variants[1].error["code"] == "OPENAI_REFUSED"
    assert len(run.leaderboard) == 2


@pytest.mark.parametrize(("error", "retryable"), [(TIMEOUT, True), (REFUSED, False)])
async def test_a_run_without_a_single_picture_failed(error, retryable):
    """IMG-8: it counted as completed, and ranked."""
    failures = dict.fromkeys(("Recompose", "Relight", "Reframe"), error)
    world = World(image=ScriptedImageModel(failures=failures))

    run = await world.run()

    assert (run.status, run.leaderboard, run.top_k) == (ImageRunStatus.FAILED, (), ())
    assert (run.error["code"], run.error["retryable"]) == (error.code, retryable)
    assert f"{error.why} (3 of 3)" in run.error["message"]
    assert len(run.degradations) == 3
    assert world.judge.calls == 0
    assert run.suggestions is None


async def test_without_an_anchor_the_run_fails_with_the_upstreams_code():
    world = World(image=ScriptedImageModel(failures={1: TIMEOUT}))

    run = await world.run()

    assert (run.status, run.stage) == (ImageRunStatus.FAILED, ImageRunStatus.GENERATING)
    assert run.error["code"] == "OPENAI_TIMEOUT"
    assert run.error["retryable"] is True
    assert world.image.calls == 1


@pytest.mark.parametrize("data", [b"", b"<html>busy</html>", flat_picture("x")[:40]])
async def test_an_image_that_is_not_one_is_a_failed_generation_that_was_paid(data):
    def picture(prompt):
        return data if "Relight" in prompt else flat_picture(prompt)

    world = World(image=ScriptedImageModel(picture=picture, cost_usd=1.0))

    run = await world.run()

    assert run.status is DEGRADED
    assert run.variants[1].error["code"] == "INVALID_IMAGE"
    assert run.spending.by_purpose["generate"].cost_usd == 4.0
    assert len(world.files.stored) == 3


async def test_an_anchor_that_is_no_picture_fails_the_run_and_was_paid():
    run = await World(image=ScriptedImageModel(picture=lambda _: b"no", cost_usd=1.0)).run()

    assert run.status is ImageRunStatus.FAILED
    assert run.error["code"] == "INVALID_IMAGE"
    assert run.spending.total.cost_usd == 1.0


async def test_a_judge_failure_gives_a_neutral_rubric_and_ranking_goes_on():
    invalid = UnavailableError(
        what="no verdict", why="a number is out of range", fix="-", code="INVALID_VERDICT"
    )
    world = World(judge=ScriptedImageJudge(failures={2: invalid}, verdict=lambda _: rubric(0.9)))

    run = await world.run()

    (unjudged,) = [one for one in run.variants if one.status is VariantStatus.EVALUATED_DEGRADED]
    assert unjudged.rubric == NEUTRAL
    assert (unjudged.rubric.confidence, unjudged.rubric.failure_tags) == (0, ("judge_unavailable",))
    assert unjudged.composite_score == 0.4
    assert unjudged.rank == 3
    assert unjudged.error["code"] == "INVALID_VERDICT"
    assert run.status is DEGRADED
    assert "out of range" in run.degradations[0]


def raising(error):
    def answer(_):
        raise error

    return answer


async def test_calls_whose_answer_could_not_be_used_are_on_the_bill():
    lost = PaidAnswerError(what="no", why="use", fix="-", usage=Usage(calls=2, cost_usd=0.5))
    world = World(
        image=ScriptedImageModel(cost_usd=1.0, failures={"Relight": lost}),
        judge=ScriptedImageJudge(failures={2: lost}),
        text=ScriptedModel(raising(lost)),
    )

    run = await world.run()

    paid = {name: usage.calls for name, usage in run.spending.by_purpose.items()}
    assert paid == {"plan": 2, "generate": 5, "judge": 3, "suggest": 2}
    assert run.spending.by_purpose["generate"].cost_usd == 3.5


async def test_an_anchor_that_was_paid_and_cannot_be_had_is_on_the_bill():
    lost = PaidAnswerError(what="no", why="use", fix="-", usage=Usage(calls=1, cost_usd=0.5))

    run = await World(image=ScriptedImageModel(failures={1: lost})).run()

    assert run.status is ImageRunStatus.FAILED
    assert run.spending.by_purpose["generate"].cost_usd == 0.5


async def test_a_judge_or_a_model_that_raises_anything_is_a_failure_of_one_variant():
    def verdict(_):
        raise KeyError("a bug")

    def picture(prompt):
        if "Relight" in prompt:
            raise ZeroDivisionError
        return flat_picture(prompt)

    world = World(
        image=ScriptedImageModel(picture=picture), judge=ScriptedImageJudge(verdict=verdict)
    )

    run = await world.run()

    assert run.status is DEGRADED
    assert {one.error["code"] for one in run.variants} == {"IMAGE_PIPELINE_FAILED"}
    assert len(run.leaderboard) == 2


async def test_a_planner_that_fails_degrades_the_run():
    def fail(_request):
        raise TIMEOUT

    run = await World(text=ScriptedModel(fail)).run()

    assert run.status is DEGRADED
    assert [one.split(":")[0] for one in run.degradations] == ["planning", "suggesting"]
    assert len(run.leaderboard) == 3


async def test_a_parent_deleted_meanwhile_fails_the_run():
    world = World()
    await with_parent(world)
    taken = await world.take(parent_commit_id="parent")
    del world.repository.stored_commits["parent"]  # By an earlier version, which let it go.

    run = await world.pipeline.run(taken)

    assert (run.status, run.error["code"]) == (ImageRunStatus.FAILED, "PARENT_GONE")
    assert world.image.calls == 0


async def test_a_parent_deleted_in_the_very_moment_fails_the_run_too():
    world = World()
    await with_parent(world)
    read = world.repository.commit

    async def read_then_delete(commit_id):
        found = await read(commit_id)
        world.repository.stored_commits.pop(commit_id, None)
        return found

    world.repository.commit = read_then_delete
    run = await world.run(parent_commit_id="parent")

    assert (run.status, run.error["code"]) == (ImageRunStatus.FAILED, "PARENT_GONE")


async def test_a_parent_whose_file_is_gone_fails_the_run():
    world = World()
    parent = await with_parent(world)
    del world.files.stored[parent.images[0].digest]

    run = await world.run(parent_commit_id="parent")

    assert run.error["code"] == "PARENT_GONE"


@pytest.mark.parametrize("stored", [0, 1, 2])
async def test_a_full_disk_fails_the_run_after_what_was_saved(stored):
    world = World(image=ScriptedImageModel(cost_usd=1.0))
    puts, put = [], world.files.put

    async def put_some(digest, data):
        puts.append(digest)
        if len(puts) > stored:
            raise FULL
        await put(digest, data)

    world.files.put = put_some
    run = await world.run()

    assert (run.status, run.error["code"]) == (ImageRunStatus.FAILED, "STORAGE_WRITE_FAILED")
    assert run.error["retryable"] is True
    commits = await world.commits()
    assert len(commits) == len(world.files.stored) == stored
    # What was drawn was paid, though it could not be kept.
    assert run.spending.by_purpose["generate"].calls >= stored + 1


async def test_a_picture_that_cannot_be_read_again_is_not_judged():
    world = World()
    taken = await world.take()
    get, lost = world.files.get, []

    async def forget(digest):
        if digest in lost:
            raise UnavailableError(what="-", why="the bucket is away", fix="-", code="STORAGE_READ")
        return await get(digest)

    world.files.get = forget
    world.judge = ScriptedImageJudge(failures=dict.fromkeys((1, 2, 3), TIMEOUT))
    await crash_when(world, taken, lambda run: run.status is ImageRunStatus.EVALUATING)
    lost += [one.image.digest for one in (await world.repository.run("r1")).variants[:1]]
    world.judge = ScriptedImageJudge()
    run = await go_on(world)

    assert run.variants[0].status is VariantStatus.EVALUATION_SKIPPED
    assert run.status is DEGRADED
    assert len(run.leaderboard) == 2


async def test_an_unexpected_error_fails_the_run_with_its_own_code():
    world = World()

    async def broken(_run):
        raise RuntimeError("nobody thought of this")

    pipeline = type(world.pipeline)(
        repository=world.repository, files=world.files, calls=world.calls, open_models=broken
    )
    run = await pipeline.run(await world.take())

    assert (run.status, run.error["code"]) == (ImageRunStatus.FAILED, "IMAGE_PIPELINE_FAILED")
    assert "nobody thought of this" in run.error["message"]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError(what="w", why="y", fix="f", code="missing_key"), "missing_key"),
        (InvariantError(what="w", why="y", fix="f"), "IMAGE_PIPELINE_FAILED"),
    ],
)
async def test_a_model_that_cannot_be_opened_fails_the_run(error, code):
    world = World()

    async def refuse(_run):
        raise error

    pipeline = type(world.pipeline)(
        repository=world.repository, files=world.files, calls=world.calls, open_models=refuse
    )
    run = await pipeline.run(await world.take())

    assert (run.status, run.error["code"]) == (ImageRunStatus.FAILED, code)


async def test_a_lost_lease_ends_the_attempt_quietly():
    world = World()
    taken = await world.take()
    lost = ConflictError(what="w", why="y", fix="f", code="lease_lost")
    world.repository.fail_saves = [lost]

    assert await world.pipeline.run(taken) is None
    assert (await world.repository.run("r1")).status is ImageRunStatus.QUEUED


async def test_a_database_that_is_away_leaves_the_run_to_be_gone_on_with():
    world = World()
    taken = await world.take()
    away = UnavailableError(what="w", why="y", fix="f", code="database_unavailable")
    world.repository.fail_saves = [away]

    with pytest.raises(UnavailableError):
        await world.pipeline.run(taken)

    assert not (await world.repository.run("r1")).status.ended
    assert (await world.pipeline.run(taken)).status is COMPLETED


async def test_no_more_than_the_bound_and_four_a_stage_go_on_at_once():
    world = World(limit=2)

    await asyncio.gather(*(world.run(f"r{n}") for n in range(4)))

    assert world.image.most_in_flight <= 2
    assert all(state.run.status is COMPLETED for state in world.repository.stored_runs.values())


class KilledError(BaseException):
    """The process is gone."""


async def crash_when(world, taken, condition):
    """Carry it out until it is stored so, then end as a killed process does: without a word."""
    save = world.repository.save_run

    async def save_then_die(run, **options):
        saved = await save(run, **options)
        if condition(saved):
            raise KilledError
        return saved

    world.repository.save_run = save_then_die
    try:
        with pytest.raises(KilledError):
            await world.pipeline.run(taken)
    finally:
        world.repository.save_run = save


async def go_on(world):
    """As another process, after the lease has expired."""
    world.repository.stored_runs["r1"].expires = 0.0
    taken = await take_run(world.repository, owner="another", seconds=60)
    return await world.pipeline.run(taken)


def thinking():
    return text_model(
        planned("one lighthouse", "two lighthouses by the sea", "three at sea"), SUGGESTED
    )


async def test_a_run_killed_after_any_write_goes_on_and_draws_nothing_twice():
    undisturbed = await World(text=thinking()).run()
    assert undisturbed.revision >= 9
    for when in range(2, undisturbed.revision):
        world = World(text=thinking())
        await crash_when(world, await world.take(), lambda run: run.revision == when)  # noqa: B023
        stored = await world.repository.run("r1")
        if stored.status.ended:
            continue  # Writes at the same moment are one, so this run took fewer.
        drawn = [one.variant_prompt for one in stored.variants if one.image]
        drawn += [PROMPT] if stored.anchor_commit_id else []

        run = await go_on(world)

        assert run.status is COMPLETED
        assert [world.image.calls_by_prompt[prompt] for prompt in drawn] == [1] * len(drawn)
        commits = [one.commit_id for one in await world.commits()]
        assert len(commits) == len(set(commits)) == 4
        assert run.top_k == undisturbed.top_k
        assert run.suggestions == undisturbed.suggestions


async def test_commits_are_named_after_their_run_and_variant():
    first, second = await World().run(), await World().run()

    assert [one.commit_id for one in first.variants] == [one.commit_id for one in second.variants]
    assert first.anchor_commit_id == second.anchor_commit_id
    assert first.anchor_commit_id != (await World().run("r2")).anchor_commit_id


def stop_at(world, status, count=1):
    """Ask for the cancellation when the run was stored so."""
    save = world.repository.save_run
    seen = []

    async def save_then_ask(run, **options):
        saved = await save(run, **options)
        seen.append(saved.status)
        if saved.status is status and seen.count(status) == count:
            await world.repository.request_cancel(run.run_id)
        return saved

    world.repository.save_run = save_then_ask


@pytest.mark.parametrize(
    ("status", "count"),
    [
        (ImageRunStatus.PLANNING, 1),
        (ImageRunStatus.GENERATING, 1),
        (ImageRunStatus.GENERATING, 2),
        (ImageRunStatus.EVALUATING, 1),
        (ImageRunStatus.EVALUATING, 2),
    ],
)
async def test_a_run_is_cancelled_at_any_stage_and_keeps_what_it_has(status, count):
    world = World()
    stop_at(world, status, count)

    run = await world.run()

    assert run.status is ImageRunStatus.CANCELLED
    assert run.completed_at is not None
    assert run.error is None
    assert len(await world.commits()) == len(world.files.stored)


class Thinker:
    """Calls that come to no end; `asked` is set once one was made."""

    name, label, fingerprint = "thinker", "thinker", "thinker"

    def __init__(self):
        self.asked = asyncio.Event()

    async def think(self, *_arguments, **_options):
        self.asked.set()
        await asyncio.Event().wait()

    generate = edit = judge = complete = think


@pytest.mark.parametrize("stage", ["planning", "generating", "evaluating", "refining"])
async def test_a_run_cancelled_while_a_model_thinks_ends_without_waiting_for_it(stage):
    world, thinker = World(text=thinking()), Thinker()
    if stage == "planning":
        world.text = thinker
    elif stage == "generating":
        world.image.edit = thinker.edit
    elif stage == "evaluating":
        world.judge = thinker
    else:
        answers = world.text.complete

        async def complete(request):
            first = "You plan" in request.messages[0].content
            return await (answers(request) if first else thinker.complete(request))

        world.text.complete = complete
    cancelled = asyncio.Event()
    running = asyncio.create_task(world.pipeline.run(await world.take(), cancelled=cancelled))
    await thinker.asked.wait()
    await world.repository.request_cancel("r1")
    cancelled.set()

    run = await running
    assert (run.status, run.stage.value) == (ImageRunStatus.CANCELLED, stage)
    assert world.calls.in_flight == 0


async def test_a_run_cancelled_before_it_was_taken_again_does_nothing():
    world = World()
    taken = await world.take()
    await world.repository.request_cancel("r1")
    await keep_run(world.repository, "r1", token=taken.token, seconds=60)

    run = await world.pipeline.run(taken)

    assert run.status is ImageRunStatus.CANCELLED
    assert world.image.calls == 0


async def test_the_first_picture_is_asked_for_with_its_constraints():
    """IMG-31."""
    world = World()

    run = await world.run(must_include=("a gull",), must_avoid=("text",))

    (asked,) = [one for one in world.image.calls_by_prompt if one.startswith(f"{PROMPT}\n")]
    assert asked == f"{PROMPT}\nMust include: a gull.\nMust avoid: text."
    assert (await world.repository.commit(run.anchor_commit_id)).prompt == asked
