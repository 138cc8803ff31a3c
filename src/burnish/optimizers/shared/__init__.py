"""Parts that several optimizers use."""
