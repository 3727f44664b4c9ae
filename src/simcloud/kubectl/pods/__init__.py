"""Verbs that reach into pods: which pod and container, and the streams to them."""
