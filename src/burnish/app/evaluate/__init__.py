"""Evaluations: one configuration on one suite, run now or queued."""
