"""Fake vendors of models on loopback: they check requests, answer as scripted, and fail on order."""
