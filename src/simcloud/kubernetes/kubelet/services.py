"""The services of a node: unit files as on a node of kind, those of its operating system, and the kubelet's arguments."""

from __future__ import annotations

from typing import Final

from simcloud.machine import Machine, secure_shell, system_services

CONTAINERD: Final = "containerd.service"
KUBELET: Final = "kubelet.service"
SOCKET: Final = "/run/containerd/containerd.sock"

KUBELET_FILE: Final = """\
# Without its configuration the kubelet is not started, so it does not crash until kubeadm has run.
ConditionPathExists=/var/lib/kubelet/config.yaml

[Service]
ExecStart=/usr/bin/kubelet
Restart=always
StartLimitInterval=0
# Shorter than upstream.
RestartSec={restart_s:g}s
# Not upstream: accounting, and a slice of its own.
CPUAccounting=true
MemoryAccounting=true
Slice=kubelet.slice
KillMode=process

[Install]
WantedBy=multi-user.target
"""
KUBELET_DROP_INS: Final = {
    "10-kubeadm.conf": """\
# For kubeadm and kubelet v1.11 or newer.
[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"
# Written by "kubeadm init" and "kubeadm join"; sets KUBELET_KUBEADM_ARGS.
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
# For KUBELET_EXTRA_ARGS, which override all others.
EnvironmentFile=-/etc/default/kubelet
ExecStart=
ExecStart=/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
""",
    "11-kind.conf": """\
# What kind adds.
[Service]
# The cgroup of the kubelet, with version 2 and with version 1 of cgroups.
ExecStartPre=/bin/sh -euc "if [ -f /sys/fs/cgroup/cgroup.controllers ]; then /kind/bin/create-kubelet-cgroup-v2.sh; fi"
ExecStartPre=/bin/sh -euc "if [ ! -f /sys/fs/cgroup/cgroup.controllers ] && [ ! -d /sys/fs/cgroup/systemd/kubelet ]; then mkdir -p /sys/fs/cgroup/systemd/kubelet; fi"
""",
}
KUBELET_EXTRA: Final = "--v=2 --runtime-cgroups=/system.slice/containerd.service"
CONTAINERD_FILE: Final = """\
After=network.target local-fs.target
StartLimitIntervalSec=0

[Service]
ExecStartPre=-/sbin/modprobe overlay
ExecStart=/usr/local/bin/containerd
Type=notify
Delegate=yes
KillMode=process
Restart=always
RestartSec=1
LimitNPROC=infinity
LimitCORE=infinity
LimitNOFILE=infinity
TasksMax=infinity
OOMScoreAdjust=-999

[Install]
WantedBy=multi-user.target
"""


def list_kubelet_arguments(machine: Machine) -> list[str]:
    """The command line of the kubelet, from its drop-ins and the flags that kubeadm wrote."""
    return [
        "/usr/bin/kubelet",
        "--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf",
        "--kubeconfig=/etc/kubernetes/kubelet.conf",
        "--config=/var/lib/kubelet/config.yaml",
        f"--node-ip={machine.host.namespace.address}",
        "--node-labels=",
        f"--provider-id=kind://docker/kind/{machine.name}",
        *KUBELET_EXTRA.split(),
    ]


def install_services(machine: Machine) -> None:
    """Give a machine the services of a node's operating system, and start them."""
    extra = f"KUBELET_EXTRA_ARGS={KUBELET_EXTRA}\n"
    machine.host.files.put("/etc/default/kubelet", extra.encode(), mode=0o644)
    if system_services.JOURNALD not in machine.units:
        system_services.install_services(machine, (system_services.JOURNALD,))
        secure_shell.start_server(machine)
