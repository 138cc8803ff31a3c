"""Real tasks with real models: optimizers on public data, a small model answers and a larger one reflects."""
