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
version = 3

[plugins.'io.containerd.cri.v1.images']
  snapshotter = 'overlayfs'
  discard_unpacked_layers = false
  [plugins.'io.containerd.cri.v1.images'.pinned_images]
    sandbox = '{pause}'

[plugins.'io.containerd.cri.v1.runtime']
  tolerate_missing_hugetlb_controller = true
  restrict_oom_score_adj = false
  [plugins.'io.containerd.cri.v1.runtime'.containerd]
    default_runtime_name = 'runc'
    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
      runtime_type = 'io.containerd.runc.v2'
      base_runtime_spec = '/etc/containerd/cri-base.json'
      [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
        SystemdCgroup = true
"""
CRICTL_CONFIG: Final = f"runtime-endpoint: unix://{SOCKET}\n"
RESOLV_CONF: Final = "nameserver {gateway}\noptions edns0 trust-ad ndots:0\n"
CNI_BINARIES: Final = {"host-local": 4_247_880, "loopback": 4_113_064, "portmap": 4_476_616, "ptp": 4_671_256}
MANAGER_STATE: Final = '{"policyName":"none","defaultCpuSet":"","checksum":1353318690}'
CLAIM_STATE: Final = r'{"Data":"{\"kind\":\"ClaimInfoStateList\",\"apiVersion\":\"checkpoint.dra.kubelet.k8s.io/v1\",\"Entries\":null}","Checksum":1656016162}'
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
