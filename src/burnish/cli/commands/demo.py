"""`burnish demo`: two prompts compared on the embedded model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from burnish.cli.options import Json


def demo(
    context: typer.Context,
    folder: Annotated[
        Path, typer.Option("--folder", metavar="FOLDER", help="Where the example is put.")
    ] = Path(".burnish") / "demo",
    split: Annotated[str, typer.Option(help="Which reviews: train, validation or test.")] = "test",
    limit: Annotated[int | None, typer.Option(min=2, help="At most so many reviews.")] = None,
    json_output: Json = False,
) -> None:
    """Evaluate two prompts on a real model inside Burnish, and tell which is better.

    It needs no key and no server. The model is downloaded once if it is not here (92 MB).
    """
    from burnish.cli.demonstration import demonstrate  # noqa: PLC0415

    demonstrate(context.obj, folder, split=split, limit=limit)
