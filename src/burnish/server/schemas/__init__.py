"""What requests and responses look like; one subject a file."""
