"""The `auto` optimizer: a portfolio of those that fit the task."""

from burnish.optimizers.auto.choosing import Choice, choose
from burnish.optimizers.auto.optimizer import Auto

__all__ = ["Auto", "Choice", "choose"]
