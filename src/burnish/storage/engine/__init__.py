"""Databases: connections, transactions, retries, migrations, and how values are stored."""
