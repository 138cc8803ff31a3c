"""Routes and schemas of compression reports."""
