"""What "better" means: objectives, the Pareto front and ranking by them."""
