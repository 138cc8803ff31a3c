"""Tools of an agent: Python functions, HTTP operations, MCP servers, and their texts as sections."""

from burnish.evaluation.agents.tools.tool import Tool, ToolFailure

__all__ = ["Tool", "ToolFailure"]
