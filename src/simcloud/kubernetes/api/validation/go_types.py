"""Values as the genuine server's own Go types print them: every field, in the order it is declared.

Errors that refuse a change show what changed as a diff of that form. A type is one line of the table below: ``Name``
is a text, ``Name:i`` a number, ``Name:b`` a bool, ``Name:*`` anything that is null when absent, ``Name:json`` what
keeps its JSON form, ``Name:selector`` a label selector, ``Name:T`` another type, ``Name:*T`` one that may be null,
``Name:[]T`` a list of it. ``Name=key`` names a JSON key that does not follow from the Go name.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from simcloud.kubernetes.api.validation.labels import by_key, format_selector

_TYPES = {
    "PodSpec": """
        Volumes:[]Volume InitContainers:[]Container Containers:[]Container
        EphemeralContainers:[]EphemeralContainer RestartPolicy TerminationGracePeriodSeconds:*
        ActiveDeadlineSeconds:* DNSPolicy NodeSelector:* ServiceAccountName AutomountServiceAccountToken:*
        NodeName SecurityContext:*PodSecurityContext ImagePullSecrets:[]LocalObjectReference Hostname
        Subdomain SetHostnameAsFQDN:* Affinity:*Affinity SchedulerName Tolerations:[]Toleration
        HostAliases:[]HostAlias PriorityClassName Priority:* PreemptionPolicy:* DNSConfig:*PodDNSConfig
        ReadinessGates:[]PodReadinessGate RuntimeClassName:* Overhead:* EnableServiceLinks:*
        TopologySpreadConstraints:[]TopologySpreadConstraint OS:*PodOS SchedulingGates:[]PodSchedulingGate
        ResourceClaims:[]PodResourceClaim Resources:*ResourceRequirements HostnameOverride:*
        SchedulingGroup:*PodSchedulingGroup""",
    "PodSecurityContext": """
        HostNetwork:b HostPID:b HostIPC:b ShareProcessNamespace:* HostUsers:* SELinuxOptions:*SELinuxOptions
        WindowsOptions:*WindowsSecurityContextOptions RunAsUser:* RunAsGroup:* RunAsNonRoot:*
        SupplementalGroups:* SupplementalGroupsPolicy:* FSGroup:* FSGroupChangePolicy:* Sysctls:[]Sysctl
        SeccompProfile:*Profile AppArmorProfile:*Profile SELinuxChangePolicy:*""",
    "Container": """
        Name Image Command:* Args:* WorkingDir Ports:[]ContainerPort EnvFrom:[]EnvFromSource Env:[]EnvVar
        Resources:ResourceRequirements ResizePolicy:[]ContainerResizePolicy RestartPolicy:*
        RestartPolicyRules:[]ContainerRestartRule VolumeMounts:[]VolumeMount VolumeDevices:[]VolumeDevice
        LivenessProbe:*Probe ReadinessProbe:*Probe StartupProbe:*Probe Lifecycle:*Lifecycle
        TerminationMessagePath TerminationMessagePolicy ImagePullPolicy SecurityContext:*SecurityContext
        Stdin:b StdinOnce:b TTY:b""",
    "EphemeralContainer": """
        Name Image Command:* Args:* WorkingDir Ports:[]ContainerPort EnvFrom:[]EnvFromSource Env:[]EnvVar
        Resources:ResourceRequirements ResizePolicy:[]ContainerResizePolicy RestartPolicy:*
        RestartPolicyRules:[]ContainerRestartRule VolumeMounts:[]VolumeMount VolumeDevices:[]VolumeDevice
        LivenessProbe:*Probe ReadinessProbe:*Probe StartupProbe:*Probe Lifecycle:*Lifecycle
        TerminationMessagePath TerminationMessagePolicy ImagePullPolicy SecurityContext:*SecurityContext
        Stdin:b StdinOnce:b TTY:b TargetContainerName""",
    "SecurityContext": """
        Capabilities:*Capabilities Privileged:* SELinuxOptions:*SELinuxOptions
        WindowsOptions:*WindowsSecurityContextOptions RunAsUser:* RunAsGroup:* RunAsNonRoot:*
        ReadOnlyRootFilesystem:* AllowPrivilegeEscalation:* ProcMount:* SeccompProfile:*Profile
        AppArmorProfile:*Profile""",
    "Capabilities": "Add:* Drop:*",
    "SELinuxOptions": "User Role Type Level",
    "WindowsSecurityContextOptions": "GMSACredentialSpecName:* GMSACredentialSpec:* RunAsUserName:* HostProcess:*",
    "Profile": "Type LocalhostProfile:*",
    "Sysctl": "Name Value",
    "ContainerPort": "Name HostPort:i ContainerPort:i Protocol HostIP",
    "EnvVar": "Name Value ValueFrom:*EnvVarSource",
    "EnvVarSource": """
        FieldRef:*ObjectFieldSelector ResourceFieldRef:*ResourceFieldSelector ConfigMapKeyRef:*KeySelector
        SecretKeyRef:*KeySelector FileKeyRef:*FileKeySelector""",
    "ObjectFieldSelector": "APIVersion FieldPath",
    "ResourceFieldSelector": "ContainerName Resource Divisor",
    "KeySelector": "Name Key Optional:*",
    "FileKeySelector": "VolumeName Path Key Optional:*",
    "EnvFromSource": "Prefix ConfigMapRef:*EnvSource SecretRef:*EnvSource",
    "EnvSource": "Name Optional:*",
    "ResourceRequirements": "Limits:* Requests:* Claims:[]ResourceClaim",
    "ResourceClaim": "Name Request",
    "ContainerResizePolicy": "ResourceName RestartPolicy",
    "ContainerRestartRule": "Action ExitCodes:*ContainerRestartRuleOnExitCodes",
    "ContainerRestartRuleOnExitCodes": "Operator Values:*",
    "VolumeMount": """
        Name ReadOnly:b RecursiveReadOnly:* MountPath SubPath MountPropagation:* SubPathExpr""",
    "VolumeDevice": "Name DevicePath",
    "Probe": """
        Exec:*ExecAction HTTPGet:*HTTPGetAction TCPSocket:*TCPSocketAction GRPC:*GRPCAction
        InitialDelaySeconds:i TimeoutSeconds:i PeriodSeconds:i SuccessThreshold:i FailureThreshold:i
        TerminationGracePeriodSeconds:*""",
    "Lifecycle": "PostStart:*LifecycleHandler PreStop:*LifecycleHandler StopSignal:*",
    "LifecycleHandler": "Exec:*ExecAction HTTPGet:*HTTPGetAction TCPSocket:*TCPSocketAction Sleep:*SleepAction",
    "ExecAction": "Command:*",
    "HTTPGetAction": "Path Port:i Host Scheme HTTPHeaders:[]HTTPHeader",
    "HTTPHeader": "Name Value",
    "TCPSocketAction": "Port:i Host",
    "GRPCAction": "Port:i Service:*",
    "SleepAction": "Seconds:i",
    "LocalObjectReference": "Name",
    "Toleration": "Key Operator Value Effect TolerationSeconds:*",
    "HostAlias": "IP Hostnames:*",
    "PodDNSConfig": "Nameservers:* Searches:* Options:[]PodDNSConfigOption",
    "PodDNSConfigOption": "Name Value:*",
    "PodReadinessGate": "ConditionType",
    "PodSchedulingGate": "Name",
    "PodOS": "Name",
    "PodResourceClaim": "Name ResourceClaimName:* ResourceClaimTemplateName:*",
    "PodSchedulingGroup": "PodGroupName:*",
    "TopologySpreadConstraint": """
        MaxSkew:i TopologyKey WhenUnsatisfiable LabelSelector:selector MinDomains:* NodeAffinityPolicy:*
        NodeTaintsPolicy:* MatchLabelKeys:*""",
    "Affinity": "NodeAffinity:*NodeAffinity PodAffinity:*PodAffinity PodAntiAffinity:*PodAffinity",
    "NodeAffinity": """
        RequiredDuringSchedulingIgnoredDuringExecution:*NodeSelector
        PreferredDuringSchedulingIgnoredDuringExecution:[]PreferredSchedulingTerm""",
    "NodeSelector": "NodeSelectorTerms:[]NodeSelectorTerm",
    "NodeSelectorTerm": "MatchExpressions:[]NodeSelectorRequirement MatchFields:[]NodeSelectorRequirement",
    "NodeSelectorRequirement": "Key Operator Values:*",
    "PreferredSchedulingTerm": "Weight:i Preference:NodeSelectorTerm",
    "PodAffinity": """
        RequiredDuringSchedulingIgnoredDuringExecution:[]PodAffinityTerm
        PreferredDuringSchedulingIgnoredDuringExecution:[]WeightedPodAffinityTerm""",
    "PodAffinityTerm": """
        LabelSelector:selector Namespaces:* TopologyKey NamespaceSelector:selector MatchLabelKeys:*
        MismatchLabelKeys:*""",
    "WeightedPodAffinityTerm": "Weight:i PodAffinityTerm:PodAffinityTerm",
    "Volume": """
        Name HostPath:*HostPath EmptyDir:*EmptyDir GCEPersistentDisk:json AWSElasticBlockStore:json
        GitRepo:*GitRepo Secret:*SecretVolume NFS:*NFS ISCSI:json Glusterfs:json
        PersistentVolumeClaim:*ClaimVolume RBD:json FlexVolume:json Cinder:json CephFS=cephfs:json
        Flocker:json DownwardAPI:*DownwardAPIVolume FC:json AzureFile:json ConfigMap:*ConfigMapVolume
        VsphereVolume:json Quobyte:json AzureDisk:json PhotonPersistentDisk:json
        Projected:*ProjectedVolume PortworxVolume:json ScaleIO:json StorageOS=storageos:json
        CSI:*CSIVolume Ephemeral:*EphemeralVolume Image:*ImageVolume""",
    "HostPath": "Path Type:*",
    "EmptyDir": "Medium SizeLimit:*",
    "GitRepo": "Repository Revision Directory",
    "SecretVolume": "SecretName Items:[]KeyToPath DefaultMode:* Optional:*",
    "ConfigMapVolume": "Name Items:[]KeyToPath DefaultMode:* Optional:*",
    "KeyToPath": "Key Path Mode:*",
    "NFS": "Server Path ReadOnly:b",
    "ClaimVolume": "ClaimName ReadOnly:b",
    "DownwardAPIVolume": "Items:[]DownwardAPIFile DefaultMode:*",
    "DownwardAPIFile": "Path FieldRef:*ObjectFieldSelector ResourceFieldRef:*ResourceFieldSelector Mode:*",
    "ProjectedVolume": "Sources:[]VolumeProjection DefaultMode:*",
    "VolumeProjection": """
        Secret:*KeyProjection DownwardAPI:*DownwardAPIProjection ConfigMap:*KeyProjection
        ServiceAccountToken:*TokenProjection ClusterTrustBundle:*TrustBundleProjection
        PodCertificate:*CertificateProjection""",
    "KeyProjection": "Name Items:[]KeyToPath Optional:*",
    "DownwardAPIProjection": "Items:[]DownwardAPIFile",
    "TokenProjection": "Audience ExpirationSeconds:i Path",
    "TrustBundleProjection": "Name:* SignerName:* LabelSelector:selector Optional:* Path",
    "CertificateProjection": """
        SignerName KeyType MaxExpirationSeconds:* CredentialBundlePath KeyPath CertificateChainPath
        UserAnnotations:*""",
    "CSIVolume": "Driver ReadOnly:* FSType:* VolumeAttributes:* NodePublishSecretRef:*LocalObjectReference",
    "EphemeralVolume": "VolumeClaimTemplate:*ClaimTemplate",
    "ClaimTemplate": "ObjectMeta=metadata:json Spec:PersistentVolumeClaimSpec",
    "ImageVolume": "Reference PullPolicy",
    "PersistentVolumeClaimSpec": """
        AccessModes:* Selector:selector Resources:VolumeResourceRequirements VolumeName StorageClassName:*
        VolumeMode:* DataSource:*TypedReference DataSourceRef:*TypedObjectReference
        VolumeAttributesClassName:*""",
    "VolumeResourceRequirements": "Limits:* Requests:*",
    "TypedReference": "APIGroup:* Kind Name",
    "TypedObjectReference": "APIGroup:* Kind Name Namespace:*",
    "DeploymentStrategy": "Type RollingUpdate:*RollingUpdateDeployment",
    "RollingUpdateDeployment": "MaxUnavailable:i MaxSurge:i",
    "DaemonSetUpdateStrategy": "Type RollingUpdate:*RollingUpdateDeployment",
    "StatefulSetUpdateStrategy": "Type RollingUpdate:*RollingUpdateStatefulSet",
    "RollingUpdateStatefulSet": "Partition:i MaxUnavailable:*",
    "PodFailurePolicy": "Rules:[]PodFailurePolicyRule",
    "PodFailurePolicyRule": """
        Action OnExitCodes:*OnExitCodes OnPodConditions:[]OnPodCondition""",
    "OnExitCodes": "ContainerName:* Operator Values:*",
    "OnPodCondition": "Type Status",
    "UncountedTerminatedPods": "Succeeded:* Failed:*",
}
_ZEROS: dict[str, Any] = {"": "", "i": 0, "b": False, "*": None, "json": None, "selector": None}
_INITIALS = re.compile(r"[A-Z]+(?=[A-Z][a-z]|$)|[A-Z]")
_OF_THE_HOST = ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers")

_CONTEXT_LINES = 3


@cache
def _fields(name: str) -> tuple[tuple[str, str, str], ...]:
    """A type's fields: Go name, JSON key, type."""
    fields = []
    for entry in _TYPES[name].split():
        named, _, kind = entry.partition(":")
        go, _, key = named.partition("=")
        fields.append((go, key or _INITIALS.sub(lambda found: found.group().lower(), go, count=1), kind))
    return tuple(fields)


def as_go(name: str, value: Mapping[str, Any]) -> dict[str, Any]:
    """An object as its Go type, its fields under their Go names."""
    if name == "PodSpec":
        value = _as_stored(value)
    return {go: _field(kind, value.get(key)) for go, key, kind in _fields(name)}


def _field(kind: str, value: Any) -> Any:
    if kind == "selector":
        return format_selector(value)
    if kind in _ZEROS:
        value = _ZEROS[kind] if value is None else value
        return by_key(value) if isinstance(value, dict) else value
    if kind.startswith("[]"):
        return None if value is None else [as_go(kind[2:], item) for item in value]
    if kind.startswith("*"):
        return None if value is None else as_go(kind[1:], value)
    return as_go(kind, value or {})


def _as_stored(spec: Mapping[str, Any]) -> dict[str, Any]:
    """A pod's spec with what it shares with the host in its security context, where Go keeps it."""
    shared = {key: spec[key] for key in _OF_THE_HOST if key in spec}
    return {**spec, "securityContext": {**(spec.get("securityContext") or {}), **shared}}


def changes(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """What changed between two values of a type, as the genuine server shows it."""
    before, after = (_lines(as_go(name, value)) for value in (old, new))
    return "".join(list(difflib.unified_diff(before, after))[2:])


def _lines(value: dict[str, Any]) -> list[str]:
    shown = json.dumps(value, indent=1, ensure_ascii=False)
    for char, escaped in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026")):
        shown = shown.replace(char, escaped)
    return [f"{line}\n" for line in shown.split("\n")]


def difference(old: Any, new: Any) -> str:
    """What changed, as a unified diff of both values written as indented JSON."""
    diff = difflib.unified_diff(_json_lines(old), _json_lines(new), n=_CONTEXT_LINES)
    # The two lines that name the files are left out.
    return "".join(list(diff)[2:])


def _json_lines(value: Any) -> list[str]:
    written = json.dumps(value, indent=1, ensure_ascii=False)
    return [f"{line}\n" for line in written.split("\n")]


def internal(value: Any) -> Any:
    """A value with its fields named as the server's own structures name them: with a capital."""
    if isinstance(value, dict):
        return {f"{key[:1].upper()}{key[1:]}": internal(item) for key, item in value.items()}
    if isinstance(value, list):
        return [internal(item) for item in value]
    return value


def structure(value: dict[str, Any] | None, *fields: tuple[str, str, Any]) -> dict[str, Any] | None:
    """An object in full: each field by (its JSON name, the server's own name, what it is when absent)."""
    if value is None:
        return None
    return {name: value.get(key, absent) for key, name, absent in fields}
