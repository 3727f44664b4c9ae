"""Nodes: their health, their taints, and the pods they leave behind."""
