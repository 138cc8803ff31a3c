"""Test cases and prompts of other tools, read as rows, sections and scorers of ours."""

from burnish.integrations.imports.kinds import Kind, guess_kind, read_foreign
from burnish.integrations.imports.project import ForeignProject, NotTaken

__all__ = ["ForeignProject", "Kind", "NotTaken", "guess_kind", "read_foreign"]
