"""Models at OpenAI-compatible endpoints."""
