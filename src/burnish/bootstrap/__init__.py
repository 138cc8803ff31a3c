"""The one place that wires implementations to protocols."""
