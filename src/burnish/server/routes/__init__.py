"""Routes, one subject a file: translate, delegate, translate."""
