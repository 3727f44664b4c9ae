"""The eight programs of the application, one module each, and their common startup."""
