"""Comparisons of answers for authors of problems, by the names of the papers and the public release."""
