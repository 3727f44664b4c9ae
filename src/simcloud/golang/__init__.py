"""Go's formatting, parsing and sorting of values, as far as it shows in Kubernetes and other Go programs."""
