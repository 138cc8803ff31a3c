"""Image models and judges: OpenAI's, the sketch and the pixel judge, which work offline."""

from burnish.images.models.openai.images import OpenAIImageModel
from burnish.images.models.openai.judge import OpenAIImageJudge
from burnish.images.models.pixel_judge.judge import PixelJudge
from burnish.images.models.sketch.model import SketchModel

__all__ = ["OpenAIImageJudge", "OpenAIImageModel", "PixelJudge", "SketchModel"]
