"""HTTP servers for genuine clients: the Kubernetes API, telemetry, and a gateway to applications."""
