"""Reference of the docs, written from the code: `python -m tests.reference` writes it anew."""
