"""Pods on their node: admission, start, probes, status and termination."""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.kubernetes.kubelet.pods import downward_api as downward_api
