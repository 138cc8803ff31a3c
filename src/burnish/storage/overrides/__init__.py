"""Overlays and documents of tags."""
