"""The eight programs of the application, one module each, and what their starts have in common."""
