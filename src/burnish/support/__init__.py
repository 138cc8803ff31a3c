"""Things without a noun of their own: retries, checks of numbers, secrets."""
