"""The numbers that make one world differ from another."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Nature:
    """How the task is and how the simulated task model behaves.

    A part of an answer is right with the chance `known` if the prompt states its rule, `guessed` if it
    says nothing, `confused` if it states a wrong rule too, `misled` if it states wrong ones only.
    """

    fewest_rules: int = 10
    most_rules: int = 14
    pairs: float = 0.4
    """Share of tickets on two topics."""
    known: float = 0.97
    guessed: float = 0.10
    confused: float = 0.45
    misled: float = 0.02
    harm: float = 0.88
    """What each harmful line leaves of every chance."""
    binary: bool = False
    """A ticket counts 1 if all its parts are right and 0 otherwise; else the share of right parts."""
    jitter: float = 0.0
    """Share of the draws that fall anew whenever the prompt says anything else."""
    train: int = 60
    validation: int = 60


@dataclass(frozen=True)
class Habits:
    """How the simulated reflection model behaves.

    It acts on at most `capacity` complaints a call, each with one of the outcomes `right` (the rule),
    `wrong` (the topic with another action), `vague`, `memory` (the one ticket with its answer), or
    nothing. Then it does to the rest of the text what such models do. It makes no use of anything else
    in the prompt (`copy`, `obey`) unless told to: some optimizers show more than others, and a
    benchmark should not reward that by fiat.
    """

    capacity: int = 2
    right: float = 0.70
    wrong: float = 0.10
    vague: float = 0.15
    memory: float = 0.0
    useless: float = 0.15
    """Chance of a line more that changes nothing."""
    harmful: float = 0.03
    """Chance of a line more that hurts."""
    reword: float = 0.20
    """Chance of each line to be worded anew."""
    drop: float = 0.01
    """Chance of each line to be forgotten."""
    condense: float = 0.10
    """Chance to leave out one line that does nothing."""
    copy: float = 0.0
    """Chance to take over a rule that stands elsewhere in what it was shown."""
    obey: float = 0.0
    """Chance to leave out what it was told to avoid."""
