"""A world whose reflection model learns items by heart."""

from __future__ import annotations

from typing import ClassVar

from .nature import Habits
from .world import World


class Memoriser(World):
    """Most suggestions quote one training ticket with its answer, which helps no other ticket."""

    name: ClassVar[str] = "memoriser"
    about: ClassVar[str] = "a reflection model that quotes training tickets and their answers"
    habits: ClassVar[Habits] = Habits(right=0.20, wrong=0.05, vague=0.10, memory=0.60)
