"""Displays of optimizations: plan, progress, status, records and results."""
