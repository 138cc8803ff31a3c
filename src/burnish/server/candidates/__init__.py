"""Routes and schemas of candidates and their comparisons."""
