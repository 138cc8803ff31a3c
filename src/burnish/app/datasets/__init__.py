"""Stored datasets, suites, uploads and regression cases."""
