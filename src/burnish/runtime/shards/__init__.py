"""Experiments cut into shards, which workers on any machine evaluate."""
