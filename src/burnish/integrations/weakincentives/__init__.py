"""Prompts of the weakincentives package, optimized where they live: in its templates and its stores."""

from burnish.integrations.weakincentives.prompt import WeakincentivesPrompt
from burnish.integrations.weakincentives.runs import MailboxRuns

__all__ = ["MailboxRuns", "WeakincentivesPrompt"]
