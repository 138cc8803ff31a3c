"""Burnish makes prompts and agents measurably better, cheaper and safer to change."""
