"""What `burnish.toml` holds: its schema, how it is loaded, and what a server may run of it."""
