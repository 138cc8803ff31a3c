"""Helpers without a noun of their own: retry, Redis client, hints, number checks, secrets."""
