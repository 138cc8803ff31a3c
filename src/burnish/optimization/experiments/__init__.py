"""Experiments of an optimization: adapters, blocks, masks, results."""
