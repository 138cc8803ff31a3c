"""Agents of other frameworks as agents: pydantic-ai, the OpenAI Agents SDK, LangGraph.

Burnish depends on none of them: the library is the one that the agent came with.
"""
