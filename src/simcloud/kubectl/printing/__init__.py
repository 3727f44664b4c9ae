"""Output formats of objects, as functions."""
