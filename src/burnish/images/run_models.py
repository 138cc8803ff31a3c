"""The models of one run, and how they are called."""

from __future__ import annotations

from dataclasses import dataclass

from burnish.domain import Model
from burnish.domain.image_parts import ImageJudge, ImageModel


@dataclass(frozen=True, slots=True, kw_only=True)
class RunModels:
    """What draws, what judges, and what plans and suggests; without the last templates do it."""

    image: ImageModel
    judge: ImageJudge
    text: Model | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLabels:
    """What people are told of who drew, judged and planned."""

    image: str
    judge: str
    text: str
