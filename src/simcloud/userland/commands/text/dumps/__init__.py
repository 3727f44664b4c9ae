"""Data made visible."""
