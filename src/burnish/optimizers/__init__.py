"""What to try next: one algorithm a file."""
