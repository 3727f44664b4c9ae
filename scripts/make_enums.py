"""Write ``enums.txt``: the values that enumerated string types of the Kubernetes API may have, and what each means.

A genuine API server tells them in its OpenAPI v3 documents, and ``kubectl explain`` prints them; the published
definitions of Kubernetes 1.36 lack them. Those of Kubernetes 1.23 have them (the PyPI package kubernetes-validate 1.24.0
holds both, Apache-2.0); what changed since is below. Run as

    python scripts/make_enums.py DEFINITIONS > src/simcloud/kubernetes/api/data/enums.txt

where DEFINITIONS is ``kubernetes-json-schema/v1.23.0-local/_definitions.json`` of that package.

A line without indent names Go types as ``go_fields.txt`` writes them. The lines below it are the values in the order in
which the server tells them, each in quotes and followed by its meaning.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from simcloud.kubernetes.api.schema.go_fields import table

VALUE = re.compile(r' - `"([^"]*)"`(?: (.*))?')

# Since 1.23 these count as open sets: users may add values of their own.
NO_LONGER = {
    "v1.JobConditionType",
    "v1.LimitType",
    "v1.NamespaceConditionType",
    "v1.NodeAddressType",
    "v1.NodeConditionType",
    "v1.PersistentVolumeClaimConditionType",
    "v1.PodConditionType",
    "v1.RequestConditionType",
}

# Types that are younger than 1.23, that were pointers then (which it left out), or whose values changed.
YOUNGER = """\
v1.AppArmorProfileType
  "Localhost" indicates that a profile pre-loaded on the node should be used.
  "RuntimeDefault" indicates that the container runtime's default AppArmor profile should be used.
  "Unconfined" indicates that no AppArmor profile should be enforced.
v1.AzureDataDiskCachingMode
  "None"
  "ReadOnly"
  "ReadWrite"
v1.AzureDataDiskKind
  "Dedicated"
  "Managed"
  "Shared"
v1.ClaimResourceStatus
  "ControllerResizeInProgress" State set when resize controller starts resizing the volume in control-plane.
  "ControllerResizeInfeasible" State set when resize has failed in resize controller with a terminal unrecoverable error. Transient errors such as timeout should not set this status and should leave allocatedResourceStatus unmodified, so as resize controller can resume the volume expansion.
  "NodeResizeInProgress" State set when kubelet starts resizing the volume.
  "NodeResizeInfeasible" State set when resizing has failed in kubelet with a terminal unrecoverable error. Transient errors shouldn't set this status
  "NodeResizePending" State set when resize controller has finished resizing the volume but further resizing of volume is needed on the node.
v1.CompletionMode
  "Indexed" is a Job completion mode. In this mode, the Pods of a Job get an associated completion index from 0 to (.spec.completions - 1). The Job is  considered complete when a Pod completes for each completion index.
  "NonIndexed" is a Job completion mode. In this mode, the Job is considered complete when there have been .spec.completions successfully completed Pods. Pod completions are homologous to each other.
v1.DeviceTaintEffect v1alpha3.DeviceTaintEffect v1beta1.DeviceTaintEffect v1beta2.DeviceTaintEffect
  "NoExecute" Evict any already-running pods that do not tolerate the device taint.
  "NoSchedule" Do not allow new pods to schedule which use a tainted device unless they tolerate the taint, but allow all pods submitted to Kubelet without going through the scheduler to start, and allow all already-running pods to continue running.
  "None" No effect, the taint is purely informational.
v1.DeviceTolerationOperator v1beta1.DeviceTolerationOperator v1beta2.DeviceTolerationOperator
  "Equal"
  "Exists"
v1.FailurePolicyType v1alpha1.FailurePolicyType v1beta1.FailurePolicyType
  "Fail" means that an error calling the webhook causes the admission to fail.
  "Ignore" means that an error calling the webhook is ignored.
v1.HostPathType
  "" For backwards compatible, leave it empty if unset
  "BlockDevice" A block device must exist at the given path
  "CharDevice" A character device must exist at the given path
  "Directory" A directory must exist at the given path
  "DirectoryOrCreate" If nothing exists at the given path, an empty directory will be created there as needed with file mode 0755, having the same group and ownership with Kubelet.
  "File" A file must exist at the given path
  "FileOrCreate" If nothing exists at the given path, an empty file will be created there as needed with file mode 0644, having the same group and ownership with Kubelet.
  "Socket" A UNIX socket must exist at the given path
v1.IPFamily
  "" indicates that this IP is unknown protocol
  "IPv4" indicates that this IP is IPv4 protocol
  "IPv6" indicates that this IP is IPv6 protocol
v1.IPFamilyPolicy
  "PreferDualStack" indicates that this service prefers dual-stack when the cluster is configured for dual-stack. If the cluster is not configured for dual-stack the service will be assigned a single IPFamily. If the IPFamily is not set in service.spec.ipFamilies then the service will be assigned the default IPFamily configured on the cluster
  "RequireDualStack" indicates that this service requires dual-stack. Using IPFamilyPolicyRequireDualStack on a single stack cluster will result in validation errors. The IPFamilies (and their order) assigned  to this service is based on service.spec.ipFamilies. If service.spec.ipFamilies was not provided then it will be assigned according to how they are configured on the cluster. If service.spec.ipFamilies has only one entry then the alternative IPFamily will be added by apiserver
  "SingleStack" indicates that this service is required to have a single IPFamily. The IPFamily assigned is based on the default IPFamily used by the cluster or as identified by service.spec.ipFamilies field
v1.KeyUsage
  "any"
  "cert sign"
  "client auth"
  "code signing"
  "content commitment"
  "crl sign"
  "data encipherment"
  "decipher only"
  "digital signature"
  "email protection"
  "encipher only"
  "ipsec end system"
  "ipsec tunnel"
  "ipsec user"
  "key agreement"
  "key encipherment"
  "microsoft sgc"
  "netscape sgc"
  "ocsp signing"
  "s/mime"
  "server auth"
  "signing"
  "timestamping"
v1.MatchPolicyType v1alpha1.MatchPolicyType v1beta1.MatchPolicyType
  "Equivalent" means requests should be sent to the webhook if they modify a resource listed in rules via another API group or version.
  "Exact" means requests should only be sent to the webhook if they exactly match a given rule.
v1.MountPropagationMode
  "Bidirectional" means that the volume in a container will receive new mounts from the host or other containers, and its own mounts will be propagated from the container to the host or other containers. Note that this mode is recursively applied to all mounts in the volume ("rshared" in Linux terminology).
  "HostToContainer" means that the volume in a container will receive new mounts from the host or other containers, but filesystems mounted inside the container won't be propagated to the host or other containers. Note that this mode is recursively applied to all mounts in the volume ("rslave" in Linux terminology).
  "None" means that the volume in a container will not receive new mounts from the host or other containers, and filesystems mounted inside the container won't be propagated to the host or other containers. Note that this mode corresponds to "private" in Linux terminology.
v1.NodeInclusionPolicy
  "Honor" means use this scheduling directive when calculating pod topology spread skew.
  "Ignore" means ignore this scheduling directive when calculating pod topology spread skew.
v1.OperationType
  "*"
  "CONNECT"
  "CREATE"
  "DELETE"
  "UPDATE"
v1.PatchType v1alpha1.PatchType v1beta1.PatchType
  "ApplyConfiguration" ApplyConfiguration indicates that the mutation is using apply configuration to mutate the object.
  "JSONPatch" JSONPatch indicates that the object is mutated through JSON Patch.
v1.PathType
  "Exact" matches the URL path exactly and with case sensitivity.
  "ImplementationSpecific" matching is up to the IngressClass. Implementations can treat this as a separate PathType or treat it identically to Prefix or Exact path types.
  "Prefix" matches based on a URL path prefix split by '/'. Matching is case sensitive and done on a path element by element basis. A path element refers to the list of labels in the path split by the '/' separator. A request is a match for path p if every p is an element-wise prefix of p of the request path. Note that if the last element of the path is a substring of the last element in request path, it is not a match (e.g. /foo/bar matches /foo/bar/baz, but does not match /foo/barbaz). If multiple matching paths exist in an Ingress spec, the longest matching path is given priority. Examples: - /foo/bar does not match requests to /foo/barbaz - /foo/bar matches request to /foo/bar and /foo/bar/baz - /foo and /foo/ both match requests to /foo and /foo/. If both paths are   present in an Ingress spec, the longest matching path (/foo/) is given   priority.
v1.PersistentVolumeAccessMode
  "ReadOnlyMany" can be mounted in read-only mode to many hosts
  "ReadWriteMany" can be mounted in read/write mode to many hosts
  "ReadWriteOnce" can be mounted in read/write mode to exactly 1 host
  "ReadWriteOncePod" can be mounted in read/write mode to exactly 1 pod cannot be used in combination with other access modes
v1.PersistentVolumeClaimModifyVolumeStatus
  "InProgress" InProgress indicates that the volume is being modified
  "Infeasible" Infeasible indicates that the request has been rejected as invalid by the CSI driver. To resolve the error, a valid VolumeAttributesClass needs to be specified
  "Pending" Pending indicates that the PersistentVolumeClaim cannot be modified due to unmet requirements, such as the specified VolumeAttributesClass not existing
v1.PersistentVolumeMode
  "Block" means the volume will not be formatted with a filesystem and will remain a raw block device.
  "Filesystem" means the volume will be or is formatted with a filesystem.
v1.PodFSGroupChangePolicy
  "Always" indicates that volume's ownership and permissions should always be changed whenever volume is mounted inside a Pod. This the default behavior.
  "OnRootMismatch" indicates that volume's ownership and permissions will be changed only when permission and ownership of root directory does not match with expected permissions on the volume. This can help shorten the time it takes to change ownership and permissions of a volume.
v1.PodFailurePolicyAction
  "Count" This is an action which might be taken on a pod failure - the pod failure is handled in the default way - the counter towards .backoffLimit, represented by the job's .status.failed field, is incremented.
  "FailIndex" This is an action which might be taken on a pod failure - mark the Job's index as failed to avoid restarts within this index. This action can only be used when backoffLimitPerIndex is set.
  "FailJob" This is an action which might be taken on a pod failure - mark the pod's job as Failed and terminate all running pods.
  "Ignore" This is an action which might be taken on a pod failure - the counter towards .backoffLimit, represented by the job's .status.failed field, is not incremented and a replacement pod is created.
v1.PodFailurePolicyOnExitCodesOperator
  "In"
  "NotIn"
v1.PodReplacementPolicy
  "Failed" means to wait until a previously created Pod is fully terminated (has phase Failed or Succeeded) before creating a replacement Pod.
  "TerminatingOrFailed" means that we recreate pods when they are terminating (has a metadata.deletionTimestamp) or failed.
v1.PolicyType
  "Egress" is a NetworkPolicy that affects egress traffic on selected pods
  "Ingress" is a NetworkPolicy that affects ingress traffic on selected pods
v1.PreemptionPolicy
  "Never" means that pod never preempts other pods with lower priority.
  "PreemptLowerPriority" means that pod can preempt other pods with lower priority.
v1.ProcMountType
  "Default" uses the container runtime defaults for readonly and masked paths for /proc.  Most container runtimes mask certain paths in /proc to avoid accidental security exposure of special devices or information.
  "Unmasked" bypasses the default masking behavior of the container runtime and ensures the newly created /proc the container stays in tact with no modifications.
v1.ReinvocationPolicyType
  "IfNeeded" indicates that the webhook may be called at least one additional time as part of the admission evaluation if the object being admitted is modified by other admission plugins after the initial webhook call.
  "Never" indicates that the webhook must not be called more than once in a single admission evaluation.
v1.ResourceQuotaScope
  "BestEffort" Match all pod objects that have best effort quality of service
  "CrossNamespacePodAffinity" Match all pod objects that have cross-namespace pod (anti)affinity mentioned.
  "NotBestEffort" Match all pod objects that do not have best effort quality of service
  "NotTerminating" Match all pod objects where spec.activeDeadlineSeconds is nil
  "PriorityClass" Match all pod objects that have priority class mentioned
  "Terminating" Match all pod objects where spec.activeDeadlineSeconds >=0
  "VolumeAttributesClass" Match all pvc objects that have volume attributes class mentioned.
v1.ScopeType
  "*" means that all scopes are included.
  "Cluster" means that scope is limited to cluster-scoped objects. Namespace objects are cluster-scoped.
  "Namespaced" means that scope is limited to namespaced objects.
v1.ServiceExternalTrafficPolicy
  "Cluster"
  "Cluster" routes traffic to all endpoints.
  "Local"
  "Local" preserves the source IP of the traffic by routing only to endpoints on the same node as the traffic was received on (dropping the traffic if there are no local endpoints).
v1.ServiceInternalTrafficPolicy
  "Cluster" routes traffic to all endpoints.
  "Local" routes traffic only to endpoints on the same node as the client pod (dropping the traffic if there are no local endpoints).
v1.SideEffectClass
  "None" means that calling the webhook will have no side effects.
  "NoneOnDryRun" means that calling the webhook will possibly have side effects, but if the request being reviewed has the dry-run attribute, the side effects will be suppressed.
  "Some" means that calling the webhook will possibly have side effects. If a request with the dry-run attribute would trigger a call to this webhook, the request will instead fail.
  "Unknown" means that no information is known about the side effects of calling the webhook. If a request with the dry-run attribute would trigger a call to this webhook, the request will instead fail.
v1.Signal
  SIGNALS
v1.SupplementalGroupsPolicy
  "Merge" means that the container's provided SupplementalGroups and FsGroup (specified in SecurityContext) will be merged with the primary user's groups as defined in the container image (in /etc/group).
  "Strict" means that the container's provided SupplementalGroups and FsGroup (specified in SecurityContext) will be used instead of any groups defined in the container image.
v1.TolerationOperator
  "Equal"
  "Exists"
  "Gt"
  "Lt"
v1.UnhealthyPodEvictionPolicyType
  "AlwaysAllow" policy means that all running pods (status.phase="Running"), but not yet healthy are considered disrupted and can be evicted regardless of whether the criteria in a PDB is met. This means perspective running pods of a disrupted application might not get a chance to become healthy. Healthy pods will be subject to the PDB for eviction.
  "IfHealthyBudget" policy means that running pods (status.phase="Running"), but not yet healthy can be evicted only if the guarded application is not disrupted (status.currentHealthy is at least equal to status.desiredHealthy). Healthy pods will be subject to the PDB for eviction.
v1.ValidationAction
  "Audit" specifies that a validation failure is included in the published audit event for the request.
  "Deny" specifies that a validation failure results in a denied request.
  "Warn" specifies that a validation failure is reported to the request client in HTTP warning headers, with a warning code of 299. Warnings can be sent both for allowed or denied admission responses.
v1.VolumeBindingMode
  "Immediate" indicates that PersistentVolumeClaims should be immediately provisioned and bound.  This is the default mode.
  "WaitForFirstConsumer" indicates that PersistentVolumeClaims should not be provisioned and bound until the first Pod is created that references the PersistentVolumeClaim.  The volume provisioning and binding will occur during Pod scheduling.
v1alpha1.ParameterNotFoundActionType v1beta1.ParameterNotFoundActionType
  "Allow" Ignore means that an error finding params for a binding is ignored
  "Deny" Fail means that an error finding params for a binding is ignored
"""
NAMED_SIGNALS = [
    "ABRT",
    "ALRM",
    "BUS",
    "CHLD",
    "CLD",
    "CONT",
    "FPE",
    "HUP",
    "ILL",
    "INT",
    "IO",
    "IOT",
    "KILL",
    "PIPE",
    "POLL",
    "PROF",
    "PWR",
    "QUIT",
    "SEGV",
    "STKFLT",
    "STOP",
    "SYS",
    "TERM",
    "TRAP",
    "TSTP",
    "TTIN",
    "TTOU",
    "URG",
    "USR1",
    "USR2",
    "VTALRM",
    "WINCH",
    "XCPU",
    "XFSZ",
    "RTMIN",
    "RTMAX",
]


def signals() -> str:
    """The stop signals in the order of their names."""
    names = [*NAMED_SIGNALS, *(f"RTMIN+{n}" for n in range(1, 16)), *(f"RTMAX-{n}" for n in range(1, 15))]
    return "\n".join(sorted(f'  "SIG{name}"' for name in names))


def told_by(definitions: dict[str, Any]) -> dict[str, str]:
    """The enumerations of old definitions: Go type to lines."""
    found: dict[str, str] = {}
    for name, fields in table().items():
        properties = definitions.get(name, {}).get("properties", {})
        for key, field in fields.items():
            _, told, values = (
                properties.get(key, {}).get("description", "").partition("Possible enum values:\n")
            )
            if told and field.type not in NO_LONGER:
                lines = [VALUE.fullmatch(line) for line in values.split("\n")]
                found[field.type] = "\n".join(
                    f'  "{line[1]}" {line[2] or ""}'.rstrip() for line in lines if line is not None
                )
    return found


def younger() -> dict[str, str]:
    """What is written above: Go types to lines."""
    parts = re.split(r"^(?=\S)", YOUNGER.replace("  SIGNALS", signals()), flags=re.MULTILINE)
    split = (part.rstrip("\n").partition("\n") for part in parts if part)
    return {types: values for types, _, values in split}


def main(path: str) -> None:
    """Print the table."""
    enums = told_by(json.loads(Path(path).read_text())["definitions"]) | younger()
    for types in sorted(enums):
        print(types)
        print(enums[types])


if __name__ == "__main__":
    main(sys.argv[1])
