"""Checks of judges: verdicts against people's labels, and under changes that should not matter."""
