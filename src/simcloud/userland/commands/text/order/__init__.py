"""Tools on the order of lines: sort, find duplicates, compare sorted files."""
