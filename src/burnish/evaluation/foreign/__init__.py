"""Test cases and prompts of other tools, read as rows, sections and scorers of ours."""

from burnish.evaluation.foreign.kinds import Kind, guess_kind, read_foreign
from burnish.evaluation.foreign.project import ForeignProject, NotTaken

__all__ = ["ForeignProject", "Kind", "NotTaken", "guess_kind", "read_foreign"]
