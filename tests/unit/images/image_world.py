"""A pipeline on memory with scripted models, and pictures of all kinds."""

import io
import json
from dataclasses import replace

from tests.support.image_leases import take_this_run
from tests.support.memory_images import MemoryImageFiles, MemoryImageRepository

from burnish.domain import UnavailableError, UsageError
from burnish.domain.images.runs import (
    Constraints,
    ImageRunRequest,
    ObjectivePreset,
    Rubric,
)
from burnish.images.models.scripted import ScriptedImageJudge, ScriptedImageModel
from burnish.images.models.sketch import model as sketch
from burnish.images.pipeline import ImagePipeline
from burnish.images.stage_context import CallBound, RunModels
from burnish.models.scripted import ScriptedModel

PROMPT = "a red lighthouse by the sea"
TIMEOUT = UnavailableError(
    what="it cannot be reached", why="it took too long", fix="wait", code="OPENAI_TIMEOUT"
)
REFUSED = UsageError(what="it refused", why="not allowed", fix="change it", code="OPENAI_REFUSED")
FULL = UnavailableError(
    what="not stored", why="the disk is full", fix="make room", code="STORAGE_WRITE_FAILED"
)


def wish(**changes):
    plain = ImageRunRequest(
        project_id="p1",
        base_prompt=PROMPT,
        objective_preset=ObjectivePreset.ADHERENCE,
        image_model="scripted",
        judge_model="scripted",
    )
    limits = {name: changes.pop(name) for name in ("must_include", "must_avoid") if name in changes}
    return replace(plain, constraints=Constraints(**limits), **changes)


def rubric(adherence=0.5, **changes):
    plain = Rubric(
        prompt_adherence=adherence,
        subject_fidelity=0.5,
        composition_quality=0.5,
        style_coherence=0.5,
        technical_artifact_penalty=0.0,
        confidence=0.9,
    )
    return replace(plain, **changes)


def text_model(*answers, **options):
    """Answers in turn; what is no text is given as JSON."""
    left = [one if isinstance(one, str) else json.dumps(one) for one in answers]
    return ScriptedModel(lambda _: left.pop(0), **options)


def planned(*prompts):
    return {"variants": [{"variant_prompt": one, "mutation_tags": ["light"]} for one in prompts]}


class World:
    """What a run needs; change a part before running."""

    def __init__(self, *, image=None, judge=None, text=None, limit=8):
        self.repository = MemoryImageRepository()
        self.files = MemoryImageFiles()
        self.image = image or ScriptedImageModel()
        self.judge = judge or ScriptedImageJudge()
        self.text = text
        self.calls = CallBound(limit)
        self.told = []

    @property
    def pipeline(self):
        return ImagePipeline(
            repository=self.repository,
            files=self.files,
            calls=self.calls,
            open_models=self._models,
            told=self.told.append,
        )

    async def _models(self, _run):
        return RunModels(image=self.image, judge=self.judge, text=self.text)

    async def take(self, run_id="r1", **changes):
        await self.repository.create_run(run_id, wish(**changes))
        taken = await take_this_run(self.repository, run_id, owner="me", seconds=60)
        assert taken is not None
        return taken

    async def run(self, run_id="r1", **changes):
        return await self.pipeline.run(await self.take(run_id, **changes))

    async def commits(self):
        return (await self.repository.commits("p1")).items


def draw_prompt(prompt, quality):
    """The sketch's bytes."""
    return sketch.draw_prompt(prompt, quality).data


def redraw(base, prompt, quality):
    """The bytes of the sketch's edit."""
    return sketch.redraw(base, prompt, quality).data


def encoded(image, kind="PNG", **options):
    written = io.BytesIO()
    image.save(written, kind, **options)
    return written.getvalue()
