"""`python -m burnish` is the `burnish` command."""

from burnish.cli import main

main()
