"""The configuration files of a node, as kubeadm, kind and containerd write them."""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.kubelet.services import SOCKET

INSTANCE_CONFIG: Final = f"""\
apiVersion: kubelet.config.k8s.io/v1beta1
containerRuntimeEndpoint: unix://{SOCKET}
kind: KubeletConfiguration
"""
CONTAINERD_CONFIG: Final = """\
version = 2

[proxy_plugins]
[proxy_plugins."fuse-overlayfs"]
  type = "snapshot"
  address = "/run/containerd-fuse-overlayfs.sock"

[plugins."io.containerd.grpc.v1.cri".containerd]
  discard_unpacked_layers = true
  snapshotter = "overlayfs"
  default_runtime_name = "runc"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
  base_runtime_spec = "/etc/containerd/cri-base.json"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
    SystemdCgroup = true

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.test-handler]
  runtime_type = "io.containerd.runc.v2"
  base_runtime_spec = "/etc/containerd/cri-base.json"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.test-handler.options]
    SystemdCgroup = true

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  tolerate_missing_hugepages_controller = true
  restrict_oom_score_adj = false
"""
CRICTL_CONFIG: Final = f"runtime-endpoint: unix://{SOCKET}\n"
RESOLV_CONF: Final = "nameserver {gateway}\noptions edns0 trust-ad ndots:0\n"
_JOURNAL_DEFAULTS: Final = """\
Storage=auto Compress=yes Seal=yes SplitMode=uid SyncIntervalSec=5m RateLimitIntervalSec=30s RateLimitBurst=10000
SystemMaxUse= SystemKeepFree= SystemMaxFileSize= SystemMaxFiles=100 RuntimeMaxUse= RuntimeKeepFree= RuntimeMaxFileSize=
RuntimeMaxFiles=100 MaxRetentionSec= MaxFileSec=1month ForwardToSyslog=yes ForwardToKMsg=no ForwardToConsole=no
ForwardToWall=yes TTYPath=/dev/console MaxLevelStore=debug MaxLevelSyslog=debug MaxLevelKMsg=notice MaxLevelConsole=info
MaxLevelWall=emerg LineMax=48K ReadKMsg=yes Audit=no
"""
JOURNAL_CONFIG: Final = "\n#".join(["[Journal]", *_JOURNAL_DEFAULTS.split()]) + "\nReadKMsg=no\n"
"""Debian's settings, and the line that kind adds."""
JOURNAL_KERNEL_CONFIG: Final = (
    "# Unlike kind: keep the kernel's messages for journalctl -k\n[Journal]\nReadKMsg=yes\n"
)
CNI_BINARIES: Final = {"host-local": 4_247_880, "loopback": 4_113_064, "portmap": 4_476_616, "ptp": 4_671_256}
MANAGER_STATE: Final = '{"policyName":"none","defaultCpuSet":"","checksum":1353318690}'
CLAIM_STATE: Final = r'{"Data":"{\"kind\":\"DRACheckpoint\",\"apiVersion\":\"checkpoint.dra.kubelet.k8s.io/v1\",\"ClaimInfoStateList\":null}","Checksum":4010664294}'
MEMORY_STATE: Final = '{"policyName":"None","machineState":{},"checksum":1236088283}'


def kubelet_flags(node: str, address: str) -> str:
    """/var/lib/kubelet/kubeadm-flags.env."""
    flags = f"--node-ip={address} --node-labels= --provider-id=kind://docker/kind/{node}"
    return f'KUBELET_KUBEADM_ARGS="{flags}"\n'


def network_config(pod_range: str) -> str:
    """/etc/cni/net.d/10-kindnet.conflist for a node with this range of pod addresses."""
    blank = ""  # Where a directive of the plugin's template was, the indentation stays.
    return f"""
{{
	"cniVersion": "0.3.1",
	"name": "kindnet",
	"plugins": [
	{{
		"type": "ptp",
		"ipMasq": false,
		"ipam": {{
			"type": "host-local",
			"dataDir": "/run/cni-ipam-state",
			"routes": [
				{blank}
				{blank}
				{{ "dst": "0.0.0.0/0" }}
			],
			"ranges": [
				{blank}
				{blank}
				[ {{ "subnet": "{pod_range}" }} ]
			]
		}}
		,
		"mtu": 1500
		{blank}
	}},
	{{
		"type": "portmap",
		"capabilities": {{
			"portMappings": true
		}}
	}}
	]
}}
"""
