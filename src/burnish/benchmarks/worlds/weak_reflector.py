"""A world whose reflection model is seldom right."""

from __future__ import annotations

from typing import ClassVar

from .nature import Habits
from .world import World


class WeakReflector(World):
    """Most of what the reflection model suggests is useless, and some of it hurts."""

    name: ClassVar[str] = "weak_reflector"
    about: ClassVar[str] = "a reflection model that is right now and then, and often harmful"
    habits: ClassVar[Habits] = Habits(
        capacity=1,
        right=0.22,
        wrong=0.22,
        vague=0.28,
        useless=0.35,
        harmful=0.15,
        reword=0.30,
        drop=0.03,
    )
