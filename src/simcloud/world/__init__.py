"""Worlds: a kernel, machines, a cluster and telemetry assembled, operated through terminals, and copied."""
