"""Routes and schemas of datasets."""
