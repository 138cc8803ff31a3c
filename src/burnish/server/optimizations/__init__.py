"""Routes and schemas of optimizations, trials, points and events."""
