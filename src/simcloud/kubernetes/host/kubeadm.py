"""kubeadm on a node: version, certificates and tokens. A cluster is neither made nor upgraded with it here."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from simcloud.kubernetes.host.leaves import Leaf
from simcloud.kubernetes.host.pki import AUTHORITIES, ClusterPki
from simcloud.kubernetes.host.tables import align_cells
from simcloud.kubernetes.nodes import KUBELET_VERSION
from simcloud.machine.process import Context, Program

BUILD: Final = (
    '&version.Info{{Major:"1", Minor:"36", EmulationMajor:"", EmulationMinor:"", MinCompatibilityMajor:"", '
    'MinCompatibilityMinor:"", GitVersion:"{version}", GitCommit:"8f7d2bbd6a1c2b9a3f0a4a1f6a8c4fd0c2c9b7aa", '
    'GitTreeState:"clean", BuildDate:"2026-07-14T18:36:22Z", GoVersion:"go1.26.1", Compiler:"gc", Platform:"linux/amd64"}}'
)
TABLE: Final = (10, 3)
RENEWED: Final = {
    "admin.conf": "certificate embedded in the kubeconfig file for the admin to use and for kubeadm itself",
    "apiserver": "certificate for serving the Kubernetes API",
    "apiserver-etcd-client": "certificate the apiserver uses to access etcd",
    "apiserver-kubelet-client": "certificate for the API server to connect to kubelet",
    "controller-manager.conf": "certificate embedded in the kubeconfig file for the controller manager to use",
    "etcd/healthcheck-client": "certificate for liveness probes to healthcheck etcd",
    "etcd/peer": "certificate for etcd nodes to communicate with each other",
    "etcd/server": "certificate for serving etcd",
    "front-proxy-client": "certificate for the front proxy client",
    "scheduler.conf": "certificate embedded in the kubeconfig file for the scheduler manager to use",
    "super-admin.conf": "certificate embedded in the kubeconfig file for the super-admin",
}


def kubeadm(pki: ClusterPki, control_plane: bool) -> Program:
    """The program of one node."""

    async def program(ctx: Context) -> int:
        words = [word for word in ctx.args[1:] if not word.startswith("-")]
        short = any(word in ("short", "-oshort", "--output=short") for word in ctx.args[1:])
        if words[:1] == ["version"]:
            build = BUILD.format(version=KUBELET_VERSION)
            await ctx.out(f"{KUBELET_VERSION}\n" if short else f"kubeadm version: {build}\n")
            return 0
        if words[:2] in (["certs", "check-expiration"], ["certs", "renew"]) and not control_plane:
            await ctx.err("failed to load existing certificate admin.conf: failed to load kubeconfig file /etc/kubernetes/admin.conf: "
                          "open /etc/kubernetes/admin.conf: no such file or directory\nTo see the stack trace of this error execute "
                          "with --v=5 or higher\n")  # fmt: skip
            return 1
        if words[:2] == ["certs", "check-expiration"]:
            await ctx.out(_describe_expiration(pki, ctx.now))
            return 0
        if words[:2] == ["certs", "renew"] and len(words) > 2:
            return await _renew(ctx, pki, words[2])
        if words[:2] == ["token", "list"]:
            return 0  # the token that nodes join with lasts for a day, and is not kept
        await ctx.err(
            f'error: unknown command "{words[0]}" for "kubeadm"\nTo see the stack trace of this error execute with --v=5 or higher\n'
        )
        return 1

    return program


def _certificates(pki: ClusterPki) -> dict[str, Leaf]:
    return dict(
        sorted({**pki.leaves(), **pki.accounts()}.items(), key=lambda item: item[0].replace("/", "-"))
    )


def _moment(time_s: float) -> str:
    return f"{datetime.fromtimestamp(int(time_s), UTC):%b %d, %Y %H:%M UTC}"


def _format_rest(time_s: float, now_s: float) -> str:
    """The time that is left, in the largest unit that fits."""
    seconds = int(time_s - now_s)
    if seconds < 0:
        return "<invalid>"
    for unit, size in (("y", 365 * 86_400), ("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def _describe_expiration(pki: ClusterPki, now_s: float) -> str:
    head = (
        '[check-expiration] Reading configuration from the "kubeadm-config" ConfigMap in namespace "kube-system"...\n'
        "[check-expiration] Use 'kubeadm init phase upload-config kubeadm --config your-config-file' to re-upload it.\n\n"
    )
    rows = [["CERTIFICATE", "EXPIRES", "RESIDUAL TIME", "CERTIFICATE AUTHORITY", "EXTERNALLY MANAGED"]]
    for name, leaf in _certificates(pki).items():
        ends_s = pki.expires_s(name)
        authority = leaf.authority.replace("/", "-")
        rows.append(
            [name.replace("/", "-"), _moment(ends_s), _format_rest(ends_s, now_s), authority, f"{'no':<8}"]
        )
    authorities = [["CERTIFICATE AUTHORITY", "EXPIRES", "RESIDUAL TIME", "EXTERNALLY MANAGED"]]
    for name in sorted(AUTHORITIES, key=lambda name: name.replace("/", "-")):
        ends_s = pki.expires_s(name)
        authorities.append(
            [name.replace("/", "-"), _moment(ends_s), _format_rest(ends_s, now_s), f"{'no':<8}"]
        )
    return f"{head}{align_cells(rows, *TABLE)}\n{align_cells(authorities, *TABLE)}"


async def _renew(ctx: Context, pki: ClusterPki, wanted: str) -> int:
    """Issue certificates again; those that are in use stay in use until their programs are restarted."""
    known = _certificates(pki)
    names = list(known) if wanted == "all" else [name for name in known if name.replace("/", "-") == wanted]
    if not names:
        await ctx.err(f'error: unknown command "{wanted}" for "kubeadm certs renew"\n')
        return 1
    await ctx.out('[renew] Reading configuration from the "kubeadm-config" ConfigMap in namespace "kube-system"...\n'
                  "[renew] Use 'kubeadm init phase upload-config kubeadm --config your-config-file' to re-upload it.\n\n")  # fmt: skip
    for name in names:
        pki.renewed_s[name] = ctx.now
        await ctx.out(f"{RENEWED[name]} renewed\n")
    if wanted == "all":
        await ctx.out("\nDone renewing certificates. You must restart the kube-apiserver, kube-controller-manager, kube-scheduler "
                      "and etcd, so that they can use the new certificates.\n")  # fmt: skip
    return 0
