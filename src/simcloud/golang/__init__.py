"""How Go formats, parses, quotes and compares values, for simulated programs that are written in Go."""
