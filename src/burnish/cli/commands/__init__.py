"""Commands, one file each: its options, the call and what is printed.

The module of a command is imported when the command is invoked; `burnish.cli.app` knows where it is.
"""
