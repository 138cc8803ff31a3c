"""Models that draw pictures and judge them: OpenAI's, and two that work without a network."""

from burnish.models.images.openai_images import OpenAIImageModel
from burnish.models.images.openai_judge import OpenAIImageJudge
from burnish.models.images.pixel_judge import PixelJudge
from burnish.models.images.sketch_model import SketchModel

__all__ = ["OpenAIImageJudge", "OpenAIImageModel", "PixelJudge", "SketchModel"]
