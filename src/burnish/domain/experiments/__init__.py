"""Experiments: items, records, refinement, and the repositories that keep them."""
