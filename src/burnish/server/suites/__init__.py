"""Routes and schemas of suites."""
