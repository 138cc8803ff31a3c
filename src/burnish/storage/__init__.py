"""SQLAlchemy repositories and migrations; rows never leave this folder."""
