"""Datasets, scorers, suites, the item runner and statistics."""
