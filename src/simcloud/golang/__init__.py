"""How Go writes, reads and compares values: what shows of it through Kubernetes, its tools and other programs in Go."""
