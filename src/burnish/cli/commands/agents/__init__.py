"""Commands about the versions of an agent: one file a command."""
