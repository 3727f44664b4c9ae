"""Numbers: sequences and expressions."""
