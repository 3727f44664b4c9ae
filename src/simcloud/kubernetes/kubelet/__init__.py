"""The kubelet: runs the pods that are bound to its node."""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.kubernetes.kubelet.containerd import NETWORK_S as NETWORK_S, SNAPSHOTS as SNAPSHOTS
    from simcloud.kubernetes.kubelet.kubelet import Kubelet as Kubelet
    from simcloud.kubernetes.kubelet.records import ContainerRecord as ContainerRecord, PodRecord as PodRecord
