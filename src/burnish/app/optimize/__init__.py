"""Optimizations: created, planned, run, resumed and cancelled."""
