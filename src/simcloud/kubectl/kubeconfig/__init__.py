"""Kubeconfig files: which cluster, user and namespace a command uses."""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.kubectl.kubeconfig.config import (
        ClientConfig as ClientConfig,
        load as load,
        parse_file as parse_file,
    )
