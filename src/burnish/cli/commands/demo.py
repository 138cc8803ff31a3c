"""`burnish demo`: the main job on the embedded model."""

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
    seed: Annotated[int, typer.Option(help="Another seed searches another way.")] = 0,
    json_output: Json = False,
) -> None:
    """Make a prompt better on a real model inside Burnish, and prove it on held-out reviews.

    It needs no key and no server, and takes a few minutes. The model is downloaded once if it is
    not here (92 MB).
    """
    from burnish.cli.demonstration import demonstrate  # noqa: PLC0415

    demonstrate(context.obj, folder, seed=seed)
