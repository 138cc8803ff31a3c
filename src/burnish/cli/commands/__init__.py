"""One command a file: its options, and a few lines that call and print.

Imports of whatever is heavy stand inside the functions, so that `burnish --help` stays instant.
"""
