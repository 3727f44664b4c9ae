"""Deployments: their ReplicaSets, scaling and status."""
