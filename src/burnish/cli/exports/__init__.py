"""An experiment's results in other formats, streamed."""
