"""The built-in helm: renders charts of the machine's own files and stores them in the cluster as releases.

It shares kubeconfigs, the connection to the API, Go's templates and YAML with kubectl. Releases are stored as by the
genuine tool, so that each can read the other's.
"""
