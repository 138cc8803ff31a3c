"""TODO: what optimizations is for, in one sentence."""
