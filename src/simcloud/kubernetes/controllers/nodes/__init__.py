"""Nodes: health, taints, and pods of lost nodes."""
