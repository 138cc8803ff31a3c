"""The `gepa_reference` optimizer: the unmodified `gepa` package under this framework."""
