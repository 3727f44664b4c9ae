"""Whole lines: showing, counting, cutting off."""
