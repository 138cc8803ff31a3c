"""Sketch image model: draws by rules, offline."""
