"""The kubelet: what a node does for the pods that are bound to it."""
