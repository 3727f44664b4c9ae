"""Puts the programs of a node on its machine: tools, each loaded when it is first run, and daemons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from simcloud.kubernetes.host.pki import ClusterPki
from simcloud.kubernetes.kubelet.containerd import COMMIT, GO_VERSION, VERSION
from simcloud.kubernetes.kubelet.node import Node
from simcloud.kubernetes.nodes import KUBELET_VERSION
from simcloud.machine.process import BINARY, Context, Program
from simcloud.userland.commands import net

DAEMONS: Final = {
    "/usr/local/bin/containerd": f"containerd github.com/containerd/containerd/v2 v{VERSION} {COMMIT}\n",
    "/usr/local/sbin/runc": f"runc version 1.3.4\ncommit: v1.3.4-0-gd6d73eb8\nspec: 1.2.1\ngo: {GO_VERSION}\nlibseccomp: 2.5.4\n",
    "/usr/bin/kubelet": f"Kubernetes {KUBELET_VERSION}\n",
}
"""What a daemon prints as its version."""


def install_tools(node: Node, pki: ClusterPki, control_plane: bool) -> None:
    """Make the programs known to the machine, each at its usual place."""

    def crictl() -> Program:
        from simcloud.kubernetes.host.crictl import crictl

        return crictl(node)

    def ctr() -> Program:
        from simcloud.kubernetes.host.ctr import ctr

        return ctr(node)

    def kubeadm() -> Program:
        from simcloud.kubernetes.host.kubeadm import kubeadm

        return kubeadm(pki, control_plane)

    def nft() -> Program:
        return net.nft

    host = node.machine.host
    programs = {
        "/usr/local/bin/crictl": load_lazily(crictl),
        "/usr/local/bin/ctr": load_lazily(ctr),
        "/usr/bin/kubeadm": load_lazily(kubeadm),
        "/usr/sbin/nft": load_lazily(nft),
        **{path: tell_version(version) for path, version in DAEMONS.items()},
    }
    host.programs = {**host.programs, **{path.rpartition("/")[2]: run for path, run in programs.items()}}
    for path in programs:
        host.files.put(path, BINARY + path.rpartition("/")[2].encode(), mode=0o755)
    host.files.sync()


def tell_version(version: str) -> Program:
    """A daemon's program: it prints its version; started otherwise, it fails beside the one that runs."""

    async def program(ctx: Context) -> int:
        if ctx.args[1:2] in (["--version"], ["-v"], ["version"]):
            await ctx.out(version)
            return 0
        await ctx.err(f"{ctx.args[0]}: bind: address already in use\n")
        return 1

    return program


def load_lazily(find: Callable[[], Program]) -> Program:
    """A program that is found when it is run."""

    async def program(ctx: Context) -> int | None:
        return await find()(ctx)

    return program
