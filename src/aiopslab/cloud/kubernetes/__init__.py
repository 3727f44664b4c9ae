"""A Kubernetes cluster that others run, as a site of incidents: reached over HTTPS only, and left as it was found."""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from aiopslab.cloud.kubernetes.cleanup import remove_everything as remove_everything
    from aiopslab.cloud.kubernetes.client import (
        ClusterClient as ClusterClient,
        ClusterFailed as ClusterFailed,
    )
    from aiopslab.cloud.kubernetes.kubeconfig import NoAccess as NoAccess, read_access as read_access
    from aiopslab.cloud.kubernetes.site import (
        KubernetesOptions as KubernetesOptions,
        KubernetesSite as KubernetesSite,
        NotHealthy as NotHealthy,
        list_capabilities as list_capabilities,
    )
