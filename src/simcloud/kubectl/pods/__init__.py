"""Shared parts of verbs that access pods: selection of pod and container, and streams."""
