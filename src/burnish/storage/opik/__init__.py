"""Records of Opik clients, and mirrors."""
