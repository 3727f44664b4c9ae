"""Applications, one module or folder each."""
