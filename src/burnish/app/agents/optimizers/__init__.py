"""Configured optimizers of agents: what they are, their runs, and their schedules."""
