"""What one answer of a trial's candidate takes.

Columns are spelt out and not taken from the tables, which move on while this file must not.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Forwards only: a newer program never serves an older one. Of old trials it is unknown."""
    for name in ("avg_tokens", "avg_cost_usd"):
        op.add_column("trials", sa.Column(name, sa.Double))
