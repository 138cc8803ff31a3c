"""Gemini models, over Google's own API."""
