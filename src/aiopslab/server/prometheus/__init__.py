"""Prometheus' HTTP API, for genuine clients: Grafana, promtool, a browser."""
