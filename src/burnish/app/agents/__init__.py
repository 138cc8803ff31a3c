"""Agents with versions: registry, promotion, configured optimizers and their schedules."""
