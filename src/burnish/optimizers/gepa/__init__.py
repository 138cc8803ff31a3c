"""The `gepa` optimizer: reflective evolution over a Pareto front."""
