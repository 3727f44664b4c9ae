"""The life of a pod on its node: admission, start, probes, status, end."""
