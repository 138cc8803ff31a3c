"""Optimizations: what an optimizer sees, what is stored of a run, and what pages show of it."""
