"""The embedded Kubernetes: clusters of simulated machines, and the clients of their API.

``api`` contains the objects and the rules for changing them; the control plane and the kubelet are in the other sub-packages.
"""
