"""Agents that Burnish can run: a prompt, also with tools, a function, an HTTP service, a command."""

from burnish.evaluation.agents.answers import as_output
from burnish.evaluation.agents.command_agent import CommandAgent
from burnish.evaluation.agents.http_agent import HttpAgent
from burnish.evaluation.agents.judge_agent import JudgeAgent
from burnish.evaluation.agents.prompt_agent import PromptAgent
from burnish.evaluation.agents.python_agent import PythonAgent
from burnish.evaluation.agents.tool_agent import ToolAgent

__all__ = [
    "CommandAgent",
    "HttpAgent",
    "JudgeAgent",
    "PromptAgent",
    "PythonAgent",
    "ToolAgent",
    "as_output",
]
