"""The `evolve` optimizer: a genetic search over texts."""
