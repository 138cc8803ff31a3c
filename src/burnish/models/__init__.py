"""Talks to language and image models; limits, retries, prices, call cache."""
