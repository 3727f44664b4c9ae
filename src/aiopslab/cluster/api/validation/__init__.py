"""The rules of every kind, in Kubernetes' words."""
