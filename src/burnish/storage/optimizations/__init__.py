"""Optimizations, candidates, trials, rejections and events."""
