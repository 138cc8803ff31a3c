"""Label sets: what people are to label, what they said, and versions of it."""
