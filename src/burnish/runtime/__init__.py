"""Mailboxes and the loops that serve them."""
