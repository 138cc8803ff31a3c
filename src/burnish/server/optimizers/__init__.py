"""Routes and schemas of configured optimizers, their runs, and kinds."""
