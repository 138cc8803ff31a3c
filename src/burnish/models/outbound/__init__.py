"""Calls to addresses that came from requests: checked, resolved and pinned."""
