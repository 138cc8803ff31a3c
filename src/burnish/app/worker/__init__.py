"""Workers: the loops that serve mailboxes and queued runs."""
