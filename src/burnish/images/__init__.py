"""Image runs: plan, generate, judge and suggest; the contact sheet; image models."""
