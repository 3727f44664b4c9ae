"""``kubectl config``: read and change kubeconfig files."""

from __future__ import annotations

from base64 import b64encode
from typing import Final

from simcloud.golang.tabwriter import TabWriter
from simcloud.kubectl.command import command, group
from simcloud.kubectl.errors import KubectlError, UsageError
from simcloud.kubectl.help.pages import help_of
from simcloud.kubectl.kubeconfig.config import merged
from simcloud.kubectl.kubeconfig.fields import INNER, Config, checked, ordered, read, split
from simcloud.kubectl.kubeconfig.file import Kubeconfig
from simcloud.kubectl.output import printer_of
from simcloud.kubectl.printing.output import OBJECT_FORMATS
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api.objects import copy
from simcloud.machine.files import FileError

group("config", "Modify kubeconfig files", silent=True)

SECRETS: Final = ("token", "password", "client-key-data", "client-certificate-data")
DATA: Final = ("certificate-authority-data", "client-certificate-data", "client-key-data")


async def _only(kubectl: Kubectl, count: int, word: str = "Unexpected") -> list[str]:
    """So many arguments; with another number, the help is shown and the command has failed."""
    if len(kubectl.args) != count:
        await kubectl.out(help_of(kubectl.command))
        raise KubectlError(f"{word} args: [{' '.join(kubectl.args)}]")
    return kubectl.args


@command(
    "config current-context", "Display the current context", examples=("kubectl config current-context",)
)
async def current_context(kubectl: Kubectl) -> None:
    """Its name."""
    name = merged(kubectl.ctx, kubectl.flags).get("current-context", "")
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
    told = merged(kubectl.ctx, flags)
    current = told.get("current-context", "")
    known = {one["name"]: one.get("context") or {} for one in told["contexts"]}
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
    names = sorted(one["name"] for one in merged(kubectl.ctx, kubectl.flags)[part])
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
    (name,) = await _only(kubectl, 1)
    file = Kubeconfig(kubectl)
    if file.entry("contexts", name) is None:
        raise KubectlError(f'no context exists with the name: "{name}"')
    file.told["current-context"] = name
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
        name = str(file.told.get("current-context", ""))
        if not name:
            raise KubectlError("no current context is set")
    else:
        if not kubectl.args:
            raise KubectlError("you must specify a non-empty context name or --current")
        (name,) = await _only(kubectl, 1)
    done = "created" if file.entry("contexts", name) is None else "modified"
    entry = file.make("contexts", name)
    for key in ("cluster", "user", "namespace"):
        if flags.said(key):
            entry[key] = flags[key]
    file.save()
    await kubectl.out(f'Context "{name}" {done}.\n')


@command(
    "config set-cluster",
    "Make or change a cluster",
    examples=("kubectl config set-cluster dev --server=https://1.2.3.4",),
)
async def set_cluster(kubectl: Kubectl) -> None:
    """Where a cluster answers."""
    (name,) = await _only(kubectl, 1)
    flags, file = kubectl.flags, Kubeconfig(kubectl)
    if flags["certificate-authority"] and flags["insecure-skip-tls-verify"]:
        raise KubectlError("you cannot specify a certificate authority and insecure mode at the same time")
    entry = file.make("clusters", name)
    for flag in ("server", "tls-server-name", "proxy-url", "insecure-skip-tls-verify"):
        if flags.said(flag):
            entry[flag] = flags[flag]
    if flags["certificate-authority"]:
        _certificate(kubectl, entry, "certificate-authority")
        entry.pop("insecure-skip-tls-verify", None)
    file.save()
    await kubectl.out(f'Cluster "{name}" set.\n')


@command(
    "config set-credentials",
    "Make or change a user",
    examples=("kubectl config set-credentials bob --token=…",),
)
async def set_credentials(kubectl: Kubectl) -> None:
    """How a user proves who it is."""
    (name,) = await _only(kubectl, 1, "unexpected")
    flags, file = kubectl.flags, Kubeconfig(kubectl)
    if flags["token"] and (flags["username"] or flags["password"]):
        raise KubectlError(
            "you cannot specify more than one authentication method at the same time: --token, --username/--password"
        )
    entry = file.make("users", name)
    for flag, others in (
        ("token", ("username", "password")),
        ("username", ("token",)),
        ("password", ("token",)),
    ):
        if flags.said(flag):
            entry[flag] = flags[flag]
            for other in others:
                entry.pop(other, None)
    for flag in ("client-certificate", "client-key"):
        if flags.said(flag):
            _certificate(kubectl, entry, flag)
    _helpers(kubectl, entry)
    file.save()
    await kubectl.out(f'User "{name}" set.\n')


def _certificate(kubectl: Kubectl, entry: Config, flag: str) -> None:
    """Name a file, or keep what it holds."""
    path = kubectl.flags[flag]
    if not kubectl.flags["embed-certs"]:
        entry[flag] = path if path.startswith("/") else f"{kubectl.ctx.files.cwd.rstrip('/')}/{path}"
        return
    try:
        entry[f"{flag}-data"] = b64encode(kubectl.ctx.files.read(path)).decode()
        entry.pop(flag, None)
    except FileError as error:
        why = f"could not stat {flag} file {path}: stat {path}: {error.strerror.lower()}"
        raise KubectlError(why) from None


def _helpers(kubectl: Kubectl, entry: Config) -> None:
    """Programs and providers that give credentials."""
    flags = kubectl.flags
    if flags["exec-command"]:
        variables = [
            dict(zip(("name", "value"), one.split("=", 1), strict=False)) for one in flags["exec-env"]
        ]
        entry["exec"] = {
            "apiVersion": flags["exec-api-version"],
            "args": flags["exec-arg"] or None,
            "command": flags["exec-command"],
            "env": variables or None,
            "provideClusterInfo": flags["exec-provide-cluster-info"],
        }
    if flags["auth-provider"]:
        settings = dict(one.split("=", 1) for one in flags["auth-provider-arg"] if "=" in one)
        entry["auth-provider"] = {"config": settings or None, "name": flags["auth-provider"]}


@command("config rename-context", "Rename a context", examples=("kubectl config rename-context old new",))
async def rename_context(kubectl: Kubectl) -> None:
    """Give a context another name."""
    old, new = await _only(kubectl, 2)
    file = Kubeconfig(kubectl)
    if file.entry("contexts", old) is None:
        raise KubectlError(f'cannot rename the context "{old}", it\'s not in {file.path}')
    if file.entry("contexts", new) is not None:
        raise KubectlError(
            f'cannot rename the context "{old}", the context "{new}" already exists in {file.path}'
        )
    for one in file.told["contexts"]:
        if one["name"] == old:
            one["name"] = new
    if file.told.get("current-context") == old:
        file.told["current-context"] = new
    file.save()
    await kubectl.out(f'Context "{old}" renamed to "{new}".\n')


async def _delete(kubectl: Kubectl, part: str) -> None:
    if len(kubectl.args) != 1:
        if part == "users":
            raise UsageError("user to delete is required", kubectl.command.full)
        await kubectl.out(help_of(kubectl.command))
        return
    (name,) = kubectl.args
    file, kind = Kubeconfig(kubectl), INNER[part]
    if not file.remove(part, name):
        raise KubectlError(f"cannot delete {kind} {name}, not in {file.path}")
    if part == "contexts" and file.told.get("current-context") == name:
        warning = 'warning: this removed your active context, use "kubectl config use-context" to select a different one\n'
        await kubectl.err(warning)
    file.save()
    await kubectl.out(f"deleted {kind} {name} from {file.path}\n")


@command("config delete-context", "Delete a context", examples=("kubectl config delete-context dev",))
async def delete_context(kubectl: Kubectl) -> None:
    """Leave it out of the file."""
    await _delete(kubectl, "contexts")


@command("config delete-cluster", "Delete a cluster", examples=("kubectl config delete-cluster dev",))
async def delete_cluster(kubectl: Kubectl) -> None:
    """Leave it out of the file."""
    await _delete(kubectl, "clusters")


@command("config delete-user", "Delete a user", examples=("kubectl config delete-user bob",))
async def delete_user(kubectl: Kubectl) -> None:
    """Leave it out of the file."""
    await _delete(kubectl, "users")


@command(
    "config set", "Set a value of the file", examples=("kubectl config set contexts.dev.namespace shop",)
)
async def set_value(kubectl: Kubectl) -> None:
    """Set what a dotted path names."""
    path, value = await _only(kubectl, 2)
    file = Kubeconfig(kubectl)
    head, name, field = split(file.told, path)
    checked(file.told, path, head, field)
    if head in INNER:
        file.make(head, name)[field] = read(field, value, kubectl.flags["set-raw-bytes"])
    elif head == "preferences" and field:
        file.told.setdefault("preferences", {})[field] = read(field, value, raw=False)
    elif head == "current-context":
        file.told[head] = value
    file.save()
    await kubectl.out(f'Property "{path}" set.\n')


@command("config unset", "Take a value out of the file", examples=("kubectl config unset users.bob",))
async def unset(kubectl: Kubectl) -> None:
    """Take out what a dotted path names."""
    (path,) = await _only(kubectl, 1)
    file = Kubeconfig(kubectl)
    head, name, field = split(file.told, path)
    if field and head in INNER:
        entry = file.entry(head, name)
        if entry is None:
            raise KubectlError(f"current map key `{name}` is invalid")
        entry.pop(field, None)
    elif name:
        file.remove(head, name)
    elif head in INNER:
        file.told[head] = []
    else:
        file.told.pop(head, None)
    file.save()
    await kubectl.out(f'Property "{path}" unset.\n')


@command("config view", "Show the merged kubeconfig", examples=("kubectl config view --minify",))
async def view(kubectl: Kubectl) -> None:
    """The file, secrets left out unless they are asked for."""
    flags = kubectl.flags
    if kubectl.args:
        raise UsageError(f"unexpected arguments: [{' '.join(kubectl.args)}]", kubectl.command.full)
    told = copy({key: value for key, value in merged(kubectl.ctx, flags).items() if key != "found"})
    if flags["minify"]:
        _minify(told, flags.get("context", "") or told.get("current-context", ""))
    if not flags["raw"]:
        _redact(told)
    printer = printer_of(kubectl, OBJECT_FORMATS, keep_order=True)
    if printer is None or flags["output"] == "name":  # yaml is what it prints unless told otherwise: by -o ''
        await kubectl.out("config/<unknown>\n")
        return
    await kubectl.out(printer.print(ordered(told)))


def _minify(told: Config, name: str) -> None:
    """Only what one context needs."""
    if not name:
        raise KubectlError("current-context must exist in order to minify")
    contexts = [one for one in told["contexts"] if one["name"] == name]
    if not contexts:
        raise KubectlError(f"cannot locate context {name}")
    used = contexts[0].get("context") or {}
    told["contexts"], told["current-context"] = contexts, name
    cluster = used.get("cluster", "")
    if cluster and not any(one["name"] == cluster for one in told["clusters"]):
        raise KubectlError(f"cannot locate cluster {cluster}")
    told["clusters"] = [one for one in told["clusters"] if one["name"] == used.get("cluster")]
    told["users"] = [one for one in told["users"] if one["name"] == used.get("user")]


def _redact(told: Config) -> None:
    """What nobody should read over a shoulder."""
    for part, inner in (("clusters", "cluster"), ("users", "user")):
        for one in told[part]:
            entry = one.get(inner) or {}
            for key in entry:
                if key in DATA:
                    entry[key] = "DATA+OMITTED"
                elif key in SECRETS:
                    entry[key] = "REDACTED"
