"""Extras are optional: what the plain package imports is there without any of them."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
# What the extras of pyproject.toml bring, by the names that are imported.
BROUGHT = [
    *(
        "PIL",
        "botocore",
        "gepa",
        "mcp",
        "mlflow",
        "numpy",
        "obstore",
        "opentelemetry.sdk",
        "optuna",
        "psycopg",
    ),
    *("pyarrow", "ray", "redis", "tokenizers", "wandb", "weakincentives", "xllamacpp", "yaml"),
]
IMPORT_ALL = """
import importlib, pkgutil, sys
for name in sys.argv[1:]:
    sys.modules[name] = None  # as where it is not installed
import burnish.cli.commands, burnish.server
from burnish.domain import UsageError
failed = []
for package in (burnish.cli.commands, burnish.server):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + ".", print):
        try:  # a command that is of no use without its extra may say so in words
            importlib.import_module(found.name)
        except UsageError:
            continue
        except ModuleNotFoundError as error:
            failed.append(f"{found.name}: {error}")
print(*failed, sep="\\n", end="")
"""


def test_every_command_and_the_server_load_without_any_extra():
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL, *BROUGHT],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout + done.stderr == ""
