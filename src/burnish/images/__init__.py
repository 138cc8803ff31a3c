"""The image-run pipeline."""
