"""Configs of promptfoo: its prompts, test cases, scenarios and asserts."""
