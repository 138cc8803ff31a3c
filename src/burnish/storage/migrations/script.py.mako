"""${message}."""

import sqlalchemy as sa
from alembic import op

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}


def upgrade() -> None:
    """Forwards only: a newer program never serves an older one."""
    ${upgrades if upgrades else "pass"}
