"""The `compress` optimizer: the fewest prompt tokens that regress nothing."""
