"""Runs migrations on the connection, and in the transaction, of whoever called."""

from alembic import context

from burnish.storage.engine.schema import VERSION_TABLE
from burnish.storage.experiments.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    transactional_ddl=True,
)
context.run_migrations()
