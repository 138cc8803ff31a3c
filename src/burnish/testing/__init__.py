"""Contracts that implementations of our seams subclass, samples for them, and a fake clock."""
