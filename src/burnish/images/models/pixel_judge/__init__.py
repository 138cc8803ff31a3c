"""Pixel judge: measures a picture, and holds the figures against the words of a prompt."""
