"""Simulated computers: files, processes and network, and how their software emits logs, metrics and spans."""
