"""The `edits` optimizer: mechanical edits of sections."""
