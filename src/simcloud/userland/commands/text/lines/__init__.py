"""Whole lines: showing, counting, cutting off, numbering, splitting."""
