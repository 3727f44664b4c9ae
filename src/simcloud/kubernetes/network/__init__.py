"""The cluster network: pod addresses, Services, names, policies and ingress."""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.kubernetes.network.http_client import exchange as exchange, go_words as go_words
