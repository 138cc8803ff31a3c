"""Batches at a vendor's batch endpoint: requests gathered, recorded, sent once, and waited for."""
