"""Worlds of hidden rules: plain, noisy, and with a weak or a memorising reflection model."""

from __future__ import annotations

from typing import ClassVar

from .nature import Habits, Nature
from .world import World


class Rules(World):
    """10 to 14 rules; each ticket needs one or two of them."""


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


class Memoriser(World):
    """Most suggestions quote one training ticket with its answer, which helps no other ticket."""

    name: ClassVar[str] = "memoriser"
    about: ClassVar[str] = "a reflection model that quotes training tickets and their answers"
    habits: ClassVar[Habits] = Habits(right=0.20, wrong=0.05, vague=0.10, memory=0.60)


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
