"""Suggestions: three prompts, by a model that is checked or by templates."""

from dataclasses import asdict, replace

import pytest
from image_world import PROMPT, TIMEOUT, rubric, text_model, wish

from burnish.domain.images.runs import ImageRun, Variant, VariantStatus, rank
from burnish.images.constraint_text import mentions
from burnish.images.planning import LONGEST_PROMPT, plan
from burnish.images.suggesting import suggest
from burnish.models.scripted import ScriptedModel

ANSWER = {
    "conservative": "the lighthouse again",
    "balanced": "the lighthouse, larger",
    "aggressive": "the lighthouse on the moon",
}


def run_with(*rubrics, **changes):
    variants = [
        Variant(
            variant_id=f"v{n:02}",
            variant_prompt=f"{PROMPT}. Wording {n}.",
            status=VariantStatus.EVALUATED,
            rubric=one,
            composite_score=one.composite_score,
        )
        for n, one in enumerate(rubrics, start=1)
    ]
    return ImageRun(run_id="r1", request=wish(**changes), variants=rank(variants))


async def test_conservative_reuses_the_top_prompt():
    advice = await suggest(run_with(rubric(0.2), rubric(0.9)), None)

    assert advice.suggestions.conservative == f"{PROMPT}. Wording 2."
    assert advice.fallbacks == ()


@pytest.mark.parametrize(
    ("top", "fix"),
    [
        (rubric(failure_tags=("small watermark",)), "free of lettering"),
        (rubric(failure_tags=("extra_limb",)), "correct anatomy"),
        (rubric(0.1), "every detail of the description"),
        (rubric(0.9, subject_fidelity=0.1), "main subject larger"),
        (rubric(0.9, composition_quality=0.1), "clear place in the frame"),
        (rubric(0.9, style_coherence=0.1), "one consistent style"),
        (rubric(0.9, technical_artifact_penalty=0.9), "clean edges"),
    ],
)
async def test_balanced_keeps_the_top_prompt_with_a_targeted_fix(top, fix):
    advice = await suggest(run_with(top), None)

    balanced = advice.suggestions.balanced
    assert balanced.startswith(f"{PROMPT}. Wording 1.")
    assert fix in balanced


async def test_aggressive_rewrites_boldly_and_keeps_the_core_subject():
    suggestions = (await suggest(run_with(rubric()), None)).suggestions

    assert suggestions.aggressive.startswith(f"{PROMPT}. Reimagine it")
    assert "Wording" not in suggestions.aggressive


async def test_a_fix_is_not_given_twice():
    run = run_with(rubric(0.1))
    first = (await suggest(run, None)).suggestions.balanced
    again = ImageRun(
        run_id="r2",
        request=wish(base_prompt=first),
        variants=rank(
            [
                Variant(
                    variant_id="v01",
                    variant_prompt=first,
                    status=VariantStatus.EVALUATED,
                    rubric=rubric(0.1),
                    composite_score=0.1,
                )
            ]
        ),
    )

    second = (await suggest(again, None)).suggestions.balanced

    assert second.count("Show every detail of the description") == 1
    assert len(second) > len(first)


async def test_fallback_suggestions_include_and_avoid_what_they_must():
    run = run_with(rubric(0.1), must_include=("a gull",), must_avoid=("description", "viewpoint"))

    suggestions = (await suggest(run, None)).suggestions

    for one in (suggestions.conservative, suggestions.balanced, suggestions.aggressive):
        assert mentions(one, "a gull")
        assert "Must avoid: description, viewpoint." in one
        assert not mentions(one, "description")
        assert not mentions(one, "viewpoint")


async def test_without_any_ranked_variant_the_base_prompt_is_built_on():
    suggestions = (await suggest(run_with(), None)).suggestions

    assert suggestions.conservative == PROMPT
    assert suggestions.balanced.startswith(PROMPT)
    assert suggestions.balanced != PROMPT


async def test_the_model_sees_the_top_three_and_the_bottom_two():
    seen = []
    model = ScriptedModel(lambda request: seen.append(request.messages[1].content) or "{}")

    await suggest(run_with(rubric(0.2), rubric(0.9), rubric(0.5)), model)

    top, bottom = seen[0].split("<<<BOTTOM VARIANTS")
    assert [top.count(f"rank {n}") for n in (1, 2, 3)] == [1, 1, 1]
    assert [bottom.count(f"rank {n}") for n in (1, 2, 3)] == [0, 1, 1]


async def test_the_suggestions_are_the_models():
    advice = await suggest(run_with(rubric()), text_model(ANSWER))

    assert advice.suggestions.aggressive == "the lighthouse on the moon"
    assert advice.fallbacks == ()
    assert advice.usage.calls == 1


async def test_one_that_cannot_be_used_is_a_template_and_the_others_stay():
    bad = {**ANSWER, "balanced": " ", "aggressive": "the lighthouse with people"}

    advice = await suggest(run_with(rubric(), must_avoid=("people",)), text_model(bad))

    assert advice.suggestions.conservative.startswith("the lighthouse again")
    assert advice.suggestions.balanced.startswith(PROMPT)
    assert advice.suggestions.aggressive.startswith(PROMPT)
    assert [one.split()[1] for one in advice.fallbacks] == ["balanced", "aggressive"]


async def test_a_model_that_fails_gives_templates_and_says_why():
    def fail(_request):
        raise TIMEOUT

    run = run_with(rubric())
    advice = await suggest(run, ScriptedModel(fail))

    assert advice.suggestions == (await suggest(run, None)).suggestions
    assert "it took too long" in advice.fallbacks[0]


async def test_suggestions_can_be_run():
    """IMG-24: they were longer than the limit of a prompt."""
    terms = tuple(f"w{number:02}" * 20 for number in range(20))
    long = wish(base_prompt=("a red fox in the snow, " * 200)[:3990], must_include=terms)
    made = await plan(long, None)
    judged = [
        replace(one, status=VariantStatus.EVALUATED, rubric=rubric()) for one in made.variants
    ]
    ranked = ImageRun(run_id="r1", request=long, variants=rank(judged))

    templates = await suggest(ranked, None)
    written = {name: f"a red fox {name} " * 200 for name in ("conservative", "balanced")}
    by_model = await suggest(ranked, text_model({**written, "aggressive": "a bold red fox"}))

    for advice in (templates, by_model):
        for text in asdict(advice.suggestions).values():
            assert len(text) <= LONGEST_PROMPT


async def test_suggestions_that_repeat_each_other_or_are_about_something_else_are_not_used():
    """IMG-20."""
    said = {
        "conservative": "1.5208: a lighthouse",
        "balanced": "1.5208:  A lighthouse",
        "aggressive": "adherence",
    }
    advice = await suggest(ImageRun(run_id="r1", request=wish()), text_model(said))

    assert advice.suggestions.conservative == said["conservative"]
    assert advice.suggestions.balanced.startswith(PROMPT)
    assert advice.suggestions.aggressive.startswith(PROMPT)
    assert "balanced is a template, because it repeats another" in advice.fallbacks[0]
    assert "has nothing of the prompt" in advice.fallbacks[1]
