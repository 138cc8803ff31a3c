"""Scripts that run other packages' optimizers in the worlds, each by a Python that has the package."""
