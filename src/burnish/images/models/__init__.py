"""Models that draw pictures and judge them: OpenAI's, and two that work without a network."""

from burnish.images.models.openai.images import OpenAIImageModel
from burnish.images.models.openai.judge import OpenAIImageJudge
from burnish.images.models.pixel_judge import PixelJudge
from burnish.images.models.sketch_model import SketchModel

__all__ = ["OpenAIImageJudge", "OpenAIImageModel", "PixelJudge", "SketchModel"]
