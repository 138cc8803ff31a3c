"""Optimizations as pages show them: lines, points, a summary, and the evidence for the winner."""
