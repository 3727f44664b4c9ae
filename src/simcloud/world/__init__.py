"""Worlds: a kernel, machines, clusters and telemetry together, operated through terminals and copied by fork."""
