"""Agents, configured objects and optimizer runs."""
