"""The framework: runs, persists and reports what an optimizer proposes."""
