"""Helpers for all packages: lazy exports, loading of user files, and the error classes of the public release."""
