"""Scorers that judge an output: built-in ones, your own functions, and sets of them."""
