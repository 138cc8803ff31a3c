"""Refinement that a request asks for, over what its suite has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from burnish.config.schema import RefineTable, Settings, SuiteTable
from burnish.config.served_project import require_own_models


def with_refinement(
    table: SuiteTable, wanted: Mapping[str, Any] | None, own: Settings
) -> SuiteTable:
    """The suite with what a request names; a model is one that the configuration names."""
    if wanted is None:
        return table
    require_own_models(wanted, own, of="refinement")
    before = {} if table.refine is None else table.refine.model_dump()
    return table.model_copy(update={"refine": RefineTable(**{**before, **wanted})})
