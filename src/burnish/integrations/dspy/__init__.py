"""DSPy programs as agents."""
