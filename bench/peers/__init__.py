"""Programs that Burnish is measured against, each in a virtual environment of its own."""
