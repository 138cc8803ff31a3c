"""Tabular results: their rows as plain dicts or a pandas DataFrame, and HTML for notebooks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from burnish.domain import BurnishError, UsageError

if TYPE_CHECKING:
    import pandas as pd


class Tabular(ABC):
    """A result that is a table besides. Nothing is drawn or imported before it is asked for."""

    __slots__ = ()

    @abstractmethod
    def to_dicts(self) -> list[dict[str, Any]]:
        """One flat dict a row."""

    @abstractmethod
    def to_html(self) -> str:
        """What a notebook shows: safe HTML that asks nobody for anything."""

    def to_pandas(self) -> pd.DataFrame:
        """The rows of `to_dicts` as a DataFrame; fields of an input are columns `input.NAME`."""
        try:
            import pandas as pd  # noqa: PLC0415 - the caller's, if anybody's
        except ImportError as error:
            raise UsageError(
                what="there is no DataFrame to make",
                why="pandas is not installed",
                fix="pip install pandas, or take to_dicts()",
                code="missing_extra",
            ) from error
        return pd.DataFrame([_flat(one) for one in self.to_dicts()])

    def _repr_html_(self) -> str | None:
        """For notebooks, which then show the text where this is None."""
        try:
            return self.to_html()
        except BurnishError:  # The database may be gone; a cell must not fail for that.
            return None


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in row.items():
        fields = value.items() if name == "input" and isinstance(value, dict) else ()
        flat |= {f"input.{field}": cell for field, cell in fields}
        if not isinstance(value, dict):
            flat[name] = value
    return flat


def cost_words(cost_usd: float | None) -> str:
    """Dollars in a line of text; an unknown price is not a price of 0."""
    return "cost unknown" if cost_usd is None else f"${cost_usd:,.4f}"
