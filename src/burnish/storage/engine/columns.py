"""Columns of tables that are written alike everywhere."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey

from burnish.storage.engine.codec import SafeText


def reference(name: str, target: str, *, key: bool = True) -> Column[str]:
    """The id of another table's row, deleted with it; part of the primary key, or required."""
    row = ForeignKey(target, ondelete="CASCADE")
    return Column(name, SafeText, row, primary_key=key, nullable=False)
