"""Compressions of prompts, their reports, and requests for them by message."""
