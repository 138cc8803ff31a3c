"""The `parameters` and `grid` optimizers: declared parameters and listed texts."""
