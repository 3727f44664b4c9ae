"""The kubelet: runs the pods that are bound to its node."""
