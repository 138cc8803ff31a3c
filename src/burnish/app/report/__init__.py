"""What runs came to: summaries, candidates, comparisons, and the HTML report."""
