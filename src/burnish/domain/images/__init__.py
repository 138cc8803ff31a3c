"""Images: runs, commits and comparisons, and the protocols of what draws, judges and keeps them."""
