"""Routes and schemas of health, metrics and the served project."""
