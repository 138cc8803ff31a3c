"""The `few_shot` and `bootstrap` optimizers: which examples a prompt shows."""
