"""Label sets over HTTP."""
