"""Opik: clients that write to our server, and the mirror that writes to theirs."""
