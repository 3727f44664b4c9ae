"""The HTTP servers of the cloud: the APIs of Kubernetes, Prometheus, Jaeger and Loki for genuine clients."""
