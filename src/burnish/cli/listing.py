"""What is stored here, in a list."""

from __future__ import annotations

from typing import Any

from burnish.cli.commands.list import Kind
from burnish.cli.console import Session
from burnish.cli.display.listings import Listed, listing_json, print_listing, read_experiments
from burnish.cli.display.optimization_listings import (
    optimization_listing_json,
    print_optimizations,
)
from burnish.cli.project_location import Place
from burnish.cli.running import run
from burnish.domain import OptimizationRecord


def show_listing(session: Session, place: Place, kind: Kind, limit: int) -> None:
    """Print optimizations, experiments or both."""
    optimizations, experiments = run(_read(place, kind, limit)) if place.has_database else ([], [])
    if session.json_output:
        document: dict[str, Any] = {}
        if kind is not Kind.EXPERIMENTS:
            document["optimizations"] = [optimization_listing_json(one) for one in optimizations]
        if kind is not Kind.OPTIMIZATIONS:
            document["experiments"] = [listing_json(one) for one in experiments]
        session.print_document(document)
        return
    console = session.console
    if optimizations:
        print_optimizations(console, optimizations)
    if experiments:
        print_listing(console, experiments)
    if not optimizations and not experiments:
        noun = "optimizations" if kind is Kind.OPTIMIZATIONS else "experiments"
        command = "burnish optimize" if kind is Kind.OPTIMIZATIONS else "burnish eval"
        console.print(f"no {noun} yet; `{command}` makes one, `burnish init` an example")


async def _read(
    place: Place, kind: Kind, limit: int
) -> tuple[list[OptimizationRecord], list[Listed]]:
    async with place.read() as workspace:
        optimizations: list[OptimizationRecord] = []
        experiments: list[Listed] = []
        if kind is not Kind.EXPERIMENTS:
            optimizations = await workspace.optimizations.list_optimizations(limit=limit)
        if kind is not Kind.OPTIMIZATIONS:
            experiments = await read_experiments(workspace, limit)
        return optimizations, experiments
