"""Mailboxes on Redis or Valkey: a stream with a consumer group each."""
