"""Endpoints: what all providers of models over HTTP share; each brings a vendor and a wire."""
