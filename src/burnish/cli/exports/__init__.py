"""Exports of experiments and winners to other formats, streamed."""
