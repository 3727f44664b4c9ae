"""Kustomizations: manifests composed from folders, generated, renamed, labelled and patched.

``build`` is what ``kubectl kustomize`` prints and ``-k`` reads: resources, generators for config maps and secrets
with a hash of their contents in the name, prefixes and suffixes, namespace, labels, annotations, images, replicas,
and both types of patches. Components, replacements, variables, Helm charts and plugins are refused.
"""

from simcloud.kubectl.kustomize.build import build as build
