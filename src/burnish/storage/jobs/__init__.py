"""Queues, leases and notifications."""
