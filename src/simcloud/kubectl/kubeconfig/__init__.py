"""Kubeconfig files: which cluster, user and namespace a command uses."""
