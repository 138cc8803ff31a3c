"""Image runs: requested, carried out, compared and kept in projects."""
