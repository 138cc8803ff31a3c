"""A world whose scores are binary and noisy."""

from __future__ import annotations

from typing import ClassVar

from .nature import Nature
from .world import World


class Noisy(World):
    """Even the best prompt fails some tickets, and the baseline passes some by luck.

    Half of the draws fall anew with every change of the prompt, as the answers of real models do, so a
    candidate can be the best of many on the validation items by chance.
    """

    name: ClassVar[str] = "noisy"
    about: ClassVar[str] = "binary scores: the best prompt fails some tickets, luck passes others"
    nature: ClassVar[Nature] = Nature(
        pairs=0.25, known=0.86, guessed=0.25, confused=0.5, misled=0.1, binary=True, jitter=0.5
    )
