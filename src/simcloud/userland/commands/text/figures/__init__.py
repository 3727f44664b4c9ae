"""Numbers: sequences, units, factors, expressions."""
