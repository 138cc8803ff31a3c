"""`image optimize`: on from the winner as long as the judge sees it get better, within a budget."""

from dataclasses import replace

import pytest
from image_world import PROMPT, draw_prompt, redraw, rubric, wish

from burnish.domain import Spending, Usage, UsageError
from burnish.domain.images.runs import (
    Constraints,
    ImageFile,
    ImageRun,
    ImageRunStatus,
    ObjectivePreset,
    Pairwise,
    Preference,
    Quality,
    Suggestions,
    Variant,
    VariantStatus,
    rank,
)
from burnish.images.models.pixel_judge.judge import judge_picture
from burnish.images.planning import LONGEST_PROMPT
from burnish.images.rounds import Margin, RoundsBudget, RoundsEnd, optimize_in_rounds

FILE = ImageFile(digest="0" * 64, media_type="image/png", width=1, height=1, size=1)


class Story:
    """Rounds as they are told: of each the parent's and the winner's rubric, and changes of it."""

    def __init__(self, *rounds, cost=0.1):
        self.rounds = rounds
        self.cost = cost
        self.asked = []
        self.known = []

    async def carry(self, run_id, request):
        number = len(self.asked)
        self.asked.append((run_id, request))
        _, winner, changes = (*self.rounds[number], {})[:3]
        changes = dict(changes)
        over = changes.pop("over", None)
        told = Pairwise(preferences=(Preference("anchor", over),)) if request.pairwise else None
        made = [
            Variant(
                variant_id=f"v{n:02}",
                variant_prompt=f"round {number + 1} v{n}",
                commit_id=f"c{number + 1}{n}",
                status=VariantStatus.EVALUATED,
                image=FILE,
                rubric=one,
                composite_score=one.composite_score,
                pairwise=told,
            )
            for n, one in enumerate((rubric(0.0), winner), start=1)
        ]
        run = ImageRun(
            run_id=run_id,
            request=request,
            status=ImageRunStatus.COMPLETED,
            anchor_commit_id=request.parent_commit_id or "anchor",
            variants=rank(made),
            suggestions=Suggestions(
                conservative="c", balanced=f"balanced {number + 1}", aggressive="a"
            ),
            spending=Spending({"generate": Usage(calls=3, cost_usd=self.cost)}),
        )
        return replace(run, **changes)

    async def weigh(self, run, _winner, known):
        parent = self.rounds[len(self.asked) - 1][0]
        self.known.append(known)
        spending = Spending({"judge": Usage(calls=1, cost_usd=0.0)})
        return Margin(comparison_id=f"{run.run_id}-margin", parent=parent, spending=spending)

    async def optimize(self, **budget):
        request = budget.pop("request", wish(n_variants=2))
        return await optimize_in_rounds(
            "o", request, RoundsBudget(**budget), carry=self.carry, weigh=self.weigh
        )


BETTER = (rubric(0.4), rubric(0.6))
WORSE = (rubric(0.6), rubric(0.5))


async def test_each_round_goes_on_from_the_winner_with_the_balanced_suggestion():
    story = Story(BETTER, BETTER, BETTER)

    result = await story.optimize(rounds=3)

    asked = [(one, request.base_prompt, request.parent_commit_id) for one, request in story.asked]
    assert asked == [
        ("o-01", PROMPT, None),
        ("o-02", "balanced 1", "c12"),
        ("o-03", "balanced 2", "c22"),
    ]
    assert (result.ended, result.best_commit_id) == (RoundsEnd.ROUNDS_DONE, "c32")
    assert result.best_prompt == "round 3 v2"
    assert [one.margin for one in result.rounds] == [0.07, 0.07, 0.07]
    assert result.images == 7
    assert result.improved
    assert result.spending.total.calls == 12


async def test_all_rounds_are_judged_by_the_first_wish_and_no_picture_is_judged_twice():
    story = Story(BETTER, BETTER, BETTER)

    await story.optimize(rounds=3)

    assert [request.judged_by for _, request in story.asked] == [PROMPT] * 3
    assert story.known == [None, BETTER[1], BETTER[1]]


@pytest.mark.parametrize("least", [0.0, 0.2])
async def test_nothing_is_better_to_a_judge_that_measured_nothing(least):
    """IMG-12: an empty meadow was "better, +0.1090" once it was relit."""
    prompt = "portrait of an old fisherman"
    first = draw_prompt(prompt, Quality.LOW)
    relit = redraw(first, f"{prompt}. At golden hour, in vivid colours", Quality.LOW)
    parent, winner = (
        judge_picture(one, prompt, ObjectivePreset.ADHERENCE, Constraints())
        for one in (first, relit)
    )
    higher = replace(winner, composition_quality=1.0, subject_fidelity=1.0, style_coherence=1.0)

    result = await Story((parent, higher)).optimize(rounds=2, min_confidence=least)

    assert result.rounds[0].margin > 0
    assert not result.improved
    assert (result.ended, result.best_commit_id) == (RoundsEnd.LOW_CONFIDENCE, "anchor")


@pytest.mark.parametrize(
    ("over", "said"),
    [
        (1.0, None),
        (0.75, None),
        (0.5, "does not prefer"),
        (0.0, "does not prefer"),
        (None, "gave no"),
    ],
)
async def test_in_pairs_a_winner_is_kept_that_the_judge_prefers_to_its_parent(over, said):
    # Scores say the contrary each time, and count for nothing then.
    scores = WORSE if said is None else BETTER
    request = wish(n_variants=2, pairwise=True)

    result = await Story((*scores, {"over": over})).optimize(rounds=1, request=request)

    assert (result.improved, result.rounds[0].over_parent) == (said is None, over)
    assert result.ended is (RoundsEnd.ROUNDS_DONE if said is None else RoundsEnd.NO_MARGIN)
    assert said is None or said in result.why


async def test_a_winner_without_margin_ends_it_and_the_one_before_stays_best():
    result = await Story(BETTER, WORSE).optimize(rounds=5)

    assert (result.ended, len(result.rounds)) == (RoundsEnd.NO_MARGIN, 2)
    assert result.best_commit_id == "c12"
    assert [one.kept for one in result.rounds] == [True, False]
    assert "-0.0350" in result.why


async def test_when_nothing_is_better_the_best_is_what_it_began_with():
    result = await Story(WORSE).optimize()

    assert not result.improved
    assert (result.best_commit_id, result.best_prompt) == ("anchor", PROMPT)
    assert result.best_score == WORSE[0].composite_score


async def test_a_judge_that_is_not_sure_ends_it():
    unsure = rubric(0.9, confidence=0.1)

    result = await Story(BETTER, (rubric(0.1), unsure)).optimize()

    assert result.ended is RoundsEnd.LOW_CONFIDENCE
    assert result.best_commit_id == "c12"
    assert (await Story((unsure, rubric(1.0))).optimize()).ended is RoundsEnd.LOW_CONFIDENCE


async def test_the_budget_of_images_is_never_passed():
    result = await Story(BETTER, BETTER, BETTER).optimize(rounds=3, max_images=6)

    assert (result.ended, result.images) == (RoundsEnd.IMAGE_BUDGET, 5)
    assert "5 of 6" in result.why
    nothing = await Story().optimize(max_images=2)
    assert (nothing.ended, nothing.rounds, nothing.best_commit_id) == (
        RoundsEnd.IMAGE_BUDGET,
        (),
        None,
    )


async def test_the_budget_of_money_leaves_room_for_a_round_like_the_last():
    result = await Story(BETTER, BETTER, BETTER).optimize(rounds=3, max_cost_usd=0.25)

    assert (result.ended, len(result.rounds)) == (RoundsEnd.COST_BUDGET, 2)
    unknown = await Story(BETTER, BETTER, cost=None).optimize(max_cost_usd=100)
    assert (unknown.ended, len(unknown.rounds)) == (RoundsEnd.COST_BUDGET, 1)
    assert "not known" in unknown.why


@pytest.mark.parametrize(
    ("changes", "ended"),
    [
        ({"status": ImageRunStatus.CANCELLED, "variants": ()}, RoundsEnd.CANCELLED),
        (
            {"status": ImageRunStatus.FAILED, "variants": (), "error": {"message": "no key"}},
            RoundsEnd.ROUND_FAILED,
        ),
        (
            {"status": ImageRunStatus.COMPLETED_DEGRADED, "variants": ()},
            RoundsEnd.NOTHING_RANKED,
        ),
    ],
)
async def test_a_round_that_comes_to_nothing_ends_it_with_the_best_so_far(changes, ended):
    result = await Story(BETTER, (*BETTER, changes)).optimize()

    assert (result.ended, result.best_commit_id) == (ended, "c12")
    assert "round 2" in result.why


async def test_a_suggestion_that_is_too_long_is_not_taken():
    long = Suggestions(conservative="c", balanced="x" * (LONGEST_PROMPT + 1), aggressive="a")
    story = Story((*BETTER, {"suggestions": long}), WORSE)

    await story.optimize()

    assert story.asked[1][1].base_prompt == "round 1 v2"


@pytest.mark.parametrize(
    "budget",
    [
        {"rounds": 0},
        {"rounds": 21},
        {"max_images": 0},
        {"max_cost_usd": -1.0},
        {"max_cost_usd": float("nan")},
        {"min_margin": 2.0},
        {"min_confidence": float("nan")},
    ],
)
def test_a_budget_that_makes_no_sense_is_refused(budget):
    with pytest.raises(UsageError) as caught:
        RoundsBudget(**budget)
    assert caught.value.code == "INVALID_REQUEST"
