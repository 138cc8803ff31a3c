"""The image-run pipeline: plan, draw, judge, rank and suggest, in stages over stored state."""
