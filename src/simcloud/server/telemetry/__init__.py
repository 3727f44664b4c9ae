"""Prometheus', Jaeger's and Loki's HTTP APIs, at one address: their paths do not meet."""
