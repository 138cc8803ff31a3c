"""Errors of trials: how many runs ended in one, and how many of these for reasons outside the agent.

Columns are spelt out and not taken from the tables, which move on while this file must not.
"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Forwards only: a newer program never serves an older one. Of old trials it is not known."""
    for name in ("error_items", "missing_items"):
        op.add_column("trials", sa.Column(name, sa.Integer, nullable=False, server_default="0"))
