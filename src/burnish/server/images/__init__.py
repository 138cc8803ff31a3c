"""Routes and schemas of image runs and projects."""
