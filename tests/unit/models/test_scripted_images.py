import asyncio
import io

import pytest
from PIL import Image

from burnish.domain import UnavailableError
from burnish.domain.images.runs import Constraints, ObjectivePreset, Quality, Rubric
from burnish.images.models.scripted import (
    ScriptedImageJudge,
    ScriptedImageModel,
    drawn_rubric,
    flat_picture,
)

BROKEN = UnavailableError(what="no", why="scripted", fix="none", code="OPENAI_TIMEOUT")


async def test_a_prompt_has_a_picture_of_its_own_and_calls_are_counted():
    model = ScriptedImageModel()
    first = await model.generate("a", quality=Quality.LOW)
    again = await model.edit(first.data, "a", quality=Quality.HIGH)
    other = await model.generate("b", quality=Quality.LOW)

    assert first.data == again.data != other.data
    assert Image.open(io.BytesIO(first.data)).size == (16, 16)
    assert (model.calls, model.edits, model.bases) == (3, 1, [first.data])
    assert model.calls_by_prompt == {"a": 2, "b": 1}


async def test_failures_come_by_number_and_by_prompt():
    model = ScriptedImageModel(failures={2: BROKEN, "cursed": BROKEN})
    await model.generate("fine", quality=Quality.LOW)

    for prompt in ("fine", "a cursed idol"):
        with pytest.raises(UnavailableError, match="scripted"):
            await model.generate(prompt, quality=Quality.LOW)
    await model.generate("fine", quality=Quality.LOW)

    assert model.calls == 4


async def test_what_is_no_picture_can_be_scripted():
    model = ScriptedImageModel(picture=lambda prompt: prompt.encode())

    assert (await model.generate("junk", quality=Quality.LOW)).data == b"junk"


async def test_latency_passes_on_the_given_clock_for_all_tasks_at_once(clock):
    model = ScriptedImageModel(latency_seconds=5.0, cost_usd=0.25, clock=clock)

    drawn = await asyncio.gather(
        *(model.generate(str(number), quality=Quality.LOW) for number in range(4))
    )

    assert model.most_in_flight == 4
    assert model.in_flight == 0
    assert sum(one.usage.cost_usd for one in drawn) == 1.0


async def test_a_judge_says_what_is_written_down():
    rubric = Rubric(
        prompt_adherence=1,
        subject_fidelity=1,
        composition_quality=1,
        style_coherence=1,
        technical_artifact_penalty=0,
        confidence=1,
    )
    judge = ScriptedImageJudge(verdict=lambda prompt: rubric, failures={2: BROKEN})
    request = {"objective": ObjectivePreset.PRODUCT, "constraints": Constraints()}

    assert (await judge.judge(flat_picture("a"), "a", **request)).rubric == rubric
    with pytest.raises(UnavailableError):
        await judge.judge(b"", "a", **request)
    await judge.close()

    assert judge.closed


def test_drawn_rubrics_differ_and_are_in_range():
    rubrics = [drawn_rubric(str(number)) for number in range(50)]

    assert len({rubric.composite_score for rubric in rubrics}) > 45
    assert all(0 <= rubric.technical_artifact_penalty <= 1 for rubric in rubrics)
    assert all(0 <= rubric.confidence <= 1 for rubric in rubrics)
