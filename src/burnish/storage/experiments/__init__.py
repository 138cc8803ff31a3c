"""Datasets, experiments, item results, rounds and cached calls."""
