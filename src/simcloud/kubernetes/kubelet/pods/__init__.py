"""Pods on their node: admission, start, probes, status and termination."""
