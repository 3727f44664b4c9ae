"""A machine as a node of a cluster sees itself: its files, certificates and tools."""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.kubernetes.host.files import install_files as install_files
    from simcloud.kubernetes.host.leaves import Leaf as Leaf
    from simcloud.kubernetes.host.pki import ClusterPki as ClusterPki, format_kubeconfig as format_kubeconfig
    from simcloud.kubernetes.host.signing import sign as sign
    from simcloud.kubernetes.host.tools import install_tools as install_tools
