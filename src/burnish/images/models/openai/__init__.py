"""TODO: what openai is for, in one sentence."""
