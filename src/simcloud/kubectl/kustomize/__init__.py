"""Kustomizations: manifests put together from folders, generated, renamed, labelled and patched.

``build`` is what ``kubectl kustomize`` prints and ``-k`` reads: resources, generators for config maps and secrets with
the hash of their contents in their names, prefixes and suffixes, namespace, labels, annotations, images, replicas, and
patches of both sorts. Components, replacements, variables, Helm charts and plugins are refused.
"""

from simcloud.kubectl.kustomize.build import build

__all__ = ["build"]
