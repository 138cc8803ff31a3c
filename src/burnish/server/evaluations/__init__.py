"""Routes and schemas of evaluations."""
