"""Mirror of our optimizations on an Opik server."""
