"""Use cases, a folder a capability; `wiring` opens and connects the parts, nothing else does."""
