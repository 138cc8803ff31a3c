"""Prompts of the weakincentives package, optimized where they live: in its templates and its stores."""

from burnish.bootstrap.weakincentives.prompt import WeakincentivesPrompt
from burnish.bootstrap.weakincentives.runs import MailboxRuns

__all__ = ["MailboxRuns", "WeakincentivesPrompt"]
