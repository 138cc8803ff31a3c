"""Sections, descriptors and tags, and the stores that keep them."""
