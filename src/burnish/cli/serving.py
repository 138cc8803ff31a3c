"""One `burnish serve`, from its options to its end."""

from __future__ import annotations

from importlib import import_module

from burnish.cli.console import Session
from burnish.config.serve_options import ServeOptions

# By name: neither layer knows the other, and what they share stands in config.
_SERVER = "burnish.server.http.serving"


def serve_project(session: Session, options: ServeOptions) -> None:
    """Serve until it is told to stop."""

    def listening(address: str) -> None:
        folder = options.config.absolute().parent
        session.say(f"burnish serves {folder} at {address}", "stop it with Ctrl-C")
        session.out.flush()

    if options.insecure:
        session.messages.print(
            "WARNING: --insecure: whoever reaches this server may start runs that cost money",
            style="bold red",
            soft_wrap=True,
        )
    import_module(_SERVER).run(options, listening)
