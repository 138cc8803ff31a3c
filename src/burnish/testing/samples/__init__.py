"""Samples of domain values that contracts and tests share."""
