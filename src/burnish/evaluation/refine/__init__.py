"""Refinement of single outputs in rounds: judged, written anew by a model, judged again."""
