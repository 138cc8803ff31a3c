"""Real tasks with real models: a small one answers, a larger one reflects."""
