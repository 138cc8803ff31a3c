"""Agents that Burnish can run: a prompt, a prompt with tools, a Python function, an HTTP service."""

from burnish.evaluation.agents.http_agent import HttpAgent
from burnish.evaluation.agents.judge_agent import JudgeAgent
from burnish.evaluation.agents.prompt_agent import PromptAgent
from burnish.evaluation.agents.python_agent import PythonAgent, as_output
from burnish.evaluation.agents.tool_agent import ToolAgent

__all__ = ["HttpAgent", "JudgeAgent", "PromptAgent", "PythonAgent", "ToolAgent", "as_output"]
