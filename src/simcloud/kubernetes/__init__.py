"""An embedded Kubernetes on simulated machines."""
