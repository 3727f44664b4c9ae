"""The built-in helm: charts from a machine's files, rendered and stored in the cluster as releases.

It shares kubeconfigs, connections, Go templates and YAML with kubectl. Releases are stored in the format of the genuine helm, so
each can read the other's.
"""
