"""Commands about jobs of any kind: cancel and resume."""
