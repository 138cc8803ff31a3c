"""Displays for people: results, progress and lists, as tables and lines on a terminal."""
