"""Helpers for all packages: extension points, loading of user files, and the error classes of the public release."""
