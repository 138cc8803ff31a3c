"""The application: authentication, limits, errors, event streams."""
