"""Tools on whole lines: print, count, select."""
