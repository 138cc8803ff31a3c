"""Conversations: items of several turns, with a scripted or a simulated user against the agent."""
