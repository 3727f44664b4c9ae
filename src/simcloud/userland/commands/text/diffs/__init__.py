"""Differences between files."""
