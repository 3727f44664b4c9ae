"""``kubectl config``: read and change kubeconfig files."""

from __future__ import annotations

from typing import Final

from simcloud.golang import TabWriter
from simcloud.kubectl.command import ROOT, command, group
from simcloud.kubectl.errors import KubectlError, UsageError
from simcloud.kubectl.help.pages import help_of
from simcloud.kubectl.kubeconfig.config import merge_kubeconfigs
from simcloud.kubectl.kubeconfig.fields import Config, order_kubeconfig
from simcloud.kubectl.kubeconfig.file import Kubeconfig
from simcloud.kubectl.output import printer_of
from simcloud.kubectl.printing.output import OBJECT_FORMATS
from simcloud.kubectl.session import Kubectl
from simcloud.kubectl.tree import descend
from simcloud.kubernetes.api import copy

group("config", "Modify kubeconfig files", silent=True)

SECRETS: Final = ("token", "password", "client-key-data", "client-certificate-data")
DATA: Final = ("certificate-authority-data", "client-certificate-data", "client-key-data")


async def _only_name(kubectl: Kubectl) -> str:
    """The single argument; with another number, the help is shown and the command has failed."""
    if len(kubectl.args) != 1:
        here, _, _ = descend(ROOT, kubectl.command.path.split())
        await kubectl.out(help_of(here))
        raise KubectlError(f"Unexpected args: [{' '.join(kubectl.args)}]")
    return kubectl.args[0]


@command(
    "config current-context", "Display the current context", examples=("kubectl config current-context",)
)
async def current_context(kubectl: Kubectl) -> None:
    """Its name."""
    name = merge_kubeconfigs(kubectl.ctx, kubectl.flags).get("current-context", "")
    if not name:
        raise KubectlError("current-context is not set")
    await kubectl.out(f"{name}\n")


@command("config get-contexts", "List the contexts", examples=("kubectl config get-contexts",))
async def get_contexts(kubectl: Kubectl) -> None:
    """A table, the current one marked."""
    flags = kubectl.flags
    if flags["output"] not in ("", "name"):
        raise KubectlError(
            f"--output {flags['output']} is not available in kubectl config get-contexts; "
            "resetting to default output format"
        )
    config = merge_kubeconfigs(kubectl.ctx, flags)
    current = config.get("current-context", "")
    known = {entry["name"]: entry.get("context") or {} for entry in config["contexts"]}
    wanted = kubectl.args or sorted(known)
    rows = []
    for name in wanted:
        if name in known:
            context = known[name]
            rows.append([name, *(str(context.get(key, "")) for key in ("cluster", "user", "namespace"))])
        else:
            kubectl.postponed.append(f"error: context {name} not found")
    if flags["output"] == "name":
        await kubectl.out("".join(f"{row[0]}\n" for row in rows))
        return
    writer = TabWriter()
    if not flags["no-headers"]:
        writer.write("CURRENT\tNAME\tCLUSTER\tAUTHINFO\tNAMESPACE\n")
    for row in rows:
        writer.write("\t".join(["*" if row[0] == current else "", *row]) + "\n")
    await kubectl.out(writer.flush())


async def _names(kubectl: Kubectl, part: str) -> None:
    names = sorted(entry["name"] for entry in merge_kubeconfigs(kubectl.ctx, kubectl.flags)[part])
    await kubectl.out("".join(f"{name}\n" for name in ["NAME", *names]))


@command("config get-clusters", "List the clusters", examples=("kubectl config get-clusters",))
async def get_clusters(kubectl: Kubectl) -> None:
    """Their names."""
    await _names(kubectl, "clusters")


@command("config get-users", "List the users", examples=("kubectl config get-users",))
async def get_users(kubectl: Kubectl) -> None:
    """Their names."""
    await _names(kubectl, "users")


@command(
    "config use-context",
    "Set the current context",
    aliases=("use",),
    examples=("kubectl config use-context dev",),
)
async def use_context(kubectl: Kubectl) -> None:
    """Make a context the current one."""
    name = await _only_name(kubectl)
    file = Kubeconfig(kubectl)
    if file.entry("contexts", name) is None:
        raise KubectlError(f'no context exists with the name: "{name}"')
    file.config["current-context"] = name
    file.save()
    await kubectl.out(f'Switched to context "{name}".\n')


@command(
    "config set-context",
    "Make or change a context",
    examples=("kubectl config set-context --current --namespace=shop",),
)
async def set_context(kubectl: Kubectl) -> None:
    """Cluster, user and namespace of a context."""
    flags, file = kubectl.flags, Kubeconfig(kubectl)
    if flags["current"]:
        if kubectl.args:
            raise KubectlError("you cannot specify both a context name and --current")
        name = str(file.config.get("current-context", ""))
        if not name:
            raise KubectlError("no current context is set")
    else:
        if not kubectl.args:
            raise KubectlError("you must specify a non-empty context name or --current")
        name = await _only_name(kubectl)
    done = "created" if file.entry("contexts", name) is None else "modified"
    entry = file.make("contexts", name)
    for key in ("cluster", "user", "namespace"):
        if flags.is_given(key):
            entry[key] = flags[key]
    file.save()
    await kubectl.out(f'Context "{name}" {done}.\n')


@command("config view", "Show the merged kubeconfig", examples=("kubectl config view --minify",))
async def view(kubectl: Kubectl) -> None:
    """The file, secrets left out unless they are asked for."""
    flags = kubectl.flags
    if kubectl.args:
        raise UsageError(f"unexpected arguments: [{' '.join(kubectl.args)}]", kubectl.command.full)
    config = copy(
        {key: value for key, value in merge_kubeconfigs(kubectl.ctx, flags).items() if key != "found"}
    )
    if flags["minify"]:
        _minify(config, flags.get("context", "") or config.get("current-context", ""))
    if not flags["raw"]:
        _redact(config)
    printer = printer_of(kubectl, OBJECT_FORMATS, keep_order=True)
    if printer is None or flags["output"] == "name":  # yaml is the default, which -o '' overrides
        await kubectl.out("config/<unknown>\n")
        return
    await kubectl.out(printer.print(order_kubeconfig(config)))


def _minify(config: Config, name: str) -> None:
    """Only what one context needs."""
    if not name:
        raise KubectlError("current-context must exist in order to minify")
    contexts = [context for context in config["contexts"] if context["name"] == name]
    if not contexts:
        raise KubectlError(f"cannot locate context {name}")
    used = contexts[0].get("context") or {}
    config["contexts"], config["current-context"] = contexts, name
    cluster = used.get("cluster", "")
    if cluster and not any(entry["name"] == cluster for entry in config["clusters"]):
        raise KubectlError(f"cannot locate cluster {cluster}")
    config["clusters"] = [entry for entry in config["clusters"] if entry["name"] == used.get("cluster")]
    config["users"] = [user for user in config["users"] if user["name"] == used.get("user")]


def _redact(config: Config) -> None:
    """What nobody should read over a shoulder."""
    for part, inner in (("clusters", "cluster"), ("users", "user")):
        for item in config[part]:
            entry = item.get(inner) or {}
            for key in entry:
                if key in DATA:
                    entry[key] = "DATA+OMITTED"
                elif key in SECRETS:
                    entry[key] = "REDACTED"
