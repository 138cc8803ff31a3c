"""What people see: progress while it runs, results and comparisons when it has ended."""
