"""The monitoring services of the public AIOpsLab release; the embedded cloud always has its own."""
