"""Helm: charts of the machine's own files, rendered and kept in the cluster as releases.

A second program of the room: it shares kubeconfigs, the way to the API, Go's templates and YAML with kubectl.
Releases are stored as the genuine tool stores them, so that either reads the other's.
"""
