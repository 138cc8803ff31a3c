"""Image projects, commits, runs and picture files."""
