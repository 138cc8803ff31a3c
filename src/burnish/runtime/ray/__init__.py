"""Shards as tasks of a Ray cluster that a team already has."""
