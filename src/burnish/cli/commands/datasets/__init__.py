"""Commands on datasets: import and synthesize."""
