"""Faults: each a small file that breaks something as it breaks in life, and can undo it."""
