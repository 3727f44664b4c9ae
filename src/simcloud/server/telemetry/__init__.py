"""The HTTP APIs of Prometheus, Jaeger and Loki at one address; their paths do not overlap."""
