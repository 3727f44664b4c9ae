"""``kubectl taint``: sets and removes taints of nodes."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError, PlainError, UsageError
from simcloud.kubectl.object_changes import difference, each, send_difference, stays_here
from simcloud.kubectl.output import Teller, dry_run
from simcloud.kubectl.selection import Info, find_resource, select
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api import Object, at, copy
from simcloud.kubernetes.api.validation import label_value, qualified_name

EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
EXAMPLES: Final = (
    "kubectl taint nodes worker dedicated=gpu:NoSchedule",
    "kubectl taint nodes worker dedicated:NoSchedule-",
)


class Taint(Struct, frozen=True):
    """One taint, or a pattern of those to remove: without an effect it is any."""

    key: str
    value: str = ""
    effect: str = ""

    def format_name(self) -> str:
        """Return the name used in errors."""
        if not self.effect:
            return f"{self.key}={self.value}:" if self.value else self.key
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"

    def meets(self, taint: Object) -> bool:
        """Whether a taint of a node is this one, whatever its value."""
        return taint.get("key") == self.key and self.effect in ("", taint.get("effect"))

    def as_object(self) -> Object:
        """As it stands in a node."""
        fields = {"effect": self.effect, "key": self.key, "value": self.value}
        return {key: value for key, value in fields.items() if value}


@command("taint", "Set and remove taints of nodes", examples=EXAMPLES)
async def taint(kubectl: Kubectl) -> None:
    """Taint every node named."""
    flags = kubectl.flags
    dry_run(kubectl)
    resources, words = _split(kubectl.args)
    if not resources:
        raise KubectlError("one or more resources must be specified as <resource> <name>")
    if not words:
        raise KubectlError("at least one taint update is required")
    try:
        added, removed = _read(words)
    except KubectlError as error:
        raise UsageError(error.message, kubectl.command.full) from None
    await _check(kubectl, resources, added, removed)
    teller = Teller(kubectl, "tainted", trying=False)

    async def one(info: Info) -> None:
        changed = copy(info.obj)
        done = _change(changed, added, removed, flags["overwrite"])
        if not stays_here(kubectl):
            changed = await send_difference(kubectl, info, difference(info.obj, changed))
        await teller.tell(info.resource, changed, done)

    selected = flags["all"] or flags["selector"]
    await each(kubectl, await select(kubectl, ["nodes"] if selected else ["nodes", *resources[1:]]), one)


def _split(args: list[str]) -> tuple[list[str], list[str]]:
    about = ["=" in word or ":" in word or word.endswith("-") for word in args]
    first = about.index(True) if True in about else len(args)
    for word, is_taint in zip(args[first:], about[first:], strict=True):
        if not is_taint:
            raise KubectlError(f"all resources must be specified before taint changes: {word}")
    return args[:first], args[first:]


def _read(words: list[str]) -> tuple[list[Taint], list[Taint]]:
    """Taints to add, and those to remove."""
    added: list[Taint] = []
    removed: list[Taint] = []
    for word in words:
        if word.endswith("-"):
            found = _taint(word[:-1])
            removed.append(Taint(found.key, "", found.effect))
            continue
        found = _taint(word)
        if not found.effect:
            raise KubectlError(f"invalid taint spec: {word}")
        if any((earlier.key, earlier.effect) == (found.key, found.effect) for earlier in added):
            message = f"{{{found.key} {found.value} {found.effect} <nil>}}"
            raise KubectlError(f"duplicated taints with the same key and effect: {message}")
        added.append(found)
    return added, removed


def _taint(word: str) -> Taint:
    """A taint from ``key=value:effect``, ``key:effect`` or ``key``."""
    parts = word.split(":")
    key, value, effect = parts[0], "", ""
    if len(parts) > 2:
        raise KubectlError(f"invalid taint spec: {word}")
    if len(parts) == 2:
        effect = parts[1]
        if effect not in EFFECTS:
            raise KubectlError(f"invalid taint effect: {effect}, unsupported taint effect")
        pair = parts[0].split("=")
        if len(pair) > 2:
            raise KubectlError(f"invalid taint spec: {word}")
        key, value = pair[0], pair[1] if len(pair) == 2 else ""
        if faults := label_value(value):
            raise KubectlError(f"invalid taint spec: {word}, {'; '.join(faults)}")
    if faults := qualified_name(key):
        raise KubectlError(f"invalid taint spec: {word}, {'; '.join(faults)}")
    return Taint(key, value, effect)


async def _check(kubectl: Kubectl, resources: list[str], added: list[Taint], removed: list[Taint]) -> None:
    flags, kind = kubectl.flags, resources[0].lower()
    connection = await kubectl.connect()
    try:
        found = find_resource(connection.catalogue, kind)
    except KubectlError:
        raise PlainError(f'the server doesn\'t have a resource type "{kind}"') from None
    if found.kind != "Node":
        raise KubectlError(f"invalid resource type {kind}, only node types are supported")
    both = [
        f"{gone.key}={gone.effect}"
        for new in added
        for gone in removed
        if new.key == gone.key and gone.effect in ("", new.effect)
    ]
    if both:
        raise KubectlError(
            f"can not both modify and remove the following taint(s) in the same command: {', '.join(both)}"
        )
    if flags["all"] and flags["selector"]:
        raise KubectlError("setting 'all' parameter with a non empty selector is prohibited")
    if not flags["all"] and not flags["selector"] and len(resources) < 2:
        raise KubectlError("at least one resource name must be specified since 'all' parameter is not set")


def _change(node: Object, added: list[Taint], removed: list[Taint], overwrite: bool) -> str:
    """Change the taints of a node; the answer says what has been done to it."""
    old: list[Object] = at(node, "spec", "taints", default=None) or []
    known = [new.key for new in added for present in old if new.meets(present)]
    if known and not overwrite:
        raise KubectlError(
            f"node {node['metadata']['name']} already has {','.join(known)} taint(s) with same effect(s) and "
            "--overwrite is false"
        )
    taints = [new.as_object() for new in added]
    taints += [present for present in old if not any(new.meets(present) for new in added)]
    more, gone, missing = len(taints) != len(old), False, []
    for removal in removed:
        kept = [taint for taint in taints if not removal.meets(taint)]
        gone = len(kept) < len(taints)
        if not gone:
            missing.append(f'taint "{removal.format_name()}" not found')
        taints = kept
    if missing:
        raise KubectlError(missing[0]) if len(missing) == 1 else PlainError("\n".join(missing))
    spec = node.setdefault("spec", {})
    spec.pop("taints", None)
    if taints:
        spec["taints"] = taints
    return "modified" if overwrite or (more and gone) else "tainted" if more else "untainted"
