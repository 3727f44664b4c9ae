"""The configuration of nodes and the accounts of databases at one moment, and the changes between two moments.

The API knows none of it: packet filters, queueing disciplines and kernel settings, configuration files, database users
and roles. Logs and data do not count. Reading has no effect on the world, not even on the times of files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Final

from simcloud.machine import Machine
from simcloud.machine.files import Directory, Files, GraftedVolume, Regular, Symlink, Volume
from simcloud.machine.network import packet_filter

State = Mapping[str, Mapping[str, str]]
"""For each node or database, the value of everything that can be set there."""

FOLDER: Final = "/etc"
KUBELET: Final = "/var/lib/kubelet"
KUBELET_FILES: Final = frozenset({"/config.yaml", "/instance-config.yaml", "/kubeadm-flags.env"})
VERBS: Final = frozenset({"added", "changed", "removed"})
"""Values of what is known only by how it differs."""
ACTIONS: Final = frozenset({"vm/drop_caches"})
"""Files below /proc/sys that start something when they are written, and set nothing."""


def read_node(machine: Machine) -> dict[str, str]:
    """Return the configuration of a machine."""
    return {
        **dict(_read_network(machine)),
        **dict(_read_settings(machine)),
        **dict(_read_files(machine.host.files)),
    }


def read_accounts(machines: Iterable[Machine], components: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return the users and roles of each component's databases that run now."""
    longest_first = sorted(components, key=len, reverse=True)
    found: dict[str, dict[str, str]] = {}
    for container in (container for machine in machines for container in machine.containers.values()):
        for process in container.processes.values():
            if process.accounts is not None:
                owner = next((name for name in longest_first if container.name.startswith(f"{name}-")), None)
                if owner is not None:
                    found.setdefault(owner, {}).update(process.accounts())
    return found


def find_state_changes(before: State, now: State) -> Iterator[tuple[str, str]]:
    """Yield the name of a node or database, and what was added, removed or changed there.

    What does not run now cannot be compared; other checks report that.
    """
    for name, values in before.items():
        current = now.get(name)
        if current is None:
            continue
        for what in dict.fromkeys((*values, *current)):
            if what not in current:
                yield name, f"{what} was removed"
            elif values.get(what) != current[what]:
                verb = "changed" if what in values else "added"
                yield name, f"{what} was {current[what] if current[what] in VERBS else verb}"


def _read_network(machine: Machine) -> Iterator[tuple[str, str]]:
    namespace = machine.host.namespace
    if namespace.filter is not None:
        for name, chain in namespace.filter.chains.items():
            if chain.policy != packet_filter.ACCEPT:
                yield f"the policy {chain.policy} of the chain {name}", chain.policy
            for rule in chain.rules:  # a rule has no more effect if it is there twice
                yield f"the rule {name} {rule.spec}", ""
    queueing = namespace.network.exit_of(machine.name).queueing
    if queueing is not None:
        yield "the queueing discipline", f"{queueing.kind} {queueing.settings.describe()}"


def _read_settings(machine: Machine) -> Iterator[tuple[str, str]]:
    for name, value in machine.settings.items():
        if name not in ACTIONS:
            yield f"the kernel setting {name.replace('/', '.')}", value


def _read_files(files: Files) -> Iterator[tuple[str, str]]:
    mount, top = files.find(FOLDER)
    if isinstance(top, Directory):
        yield from _read_tree(mount.volume, top, FOLDER)
    for (
        mount
    ) in files.table.mounts:  # of files that the installation of the cluster brought, only changes are known
        if isinstance(mount.volume, GraftedVolume) and mount.path.startswith((FOLDER, KUBELET)):
            for below, verb in mount.volume.list_changes():
                if mount.path != KUBELET or below in KUBELET_FILES:
                    yield f"the file {mount.path}{below}", verb


def _read_tree(volume: Volume, directory: Directory, folder: str) -> Iterator[tuple[str, str]]:
    """Yield the files of a directory and those below, without the rules and costs of system calls."""
    for name in sorted(volume.names(directory)):
        path, node = f"{folder}/{name}", volume.child(directory, name)
        if isinstance(node, Directory):
            yield from _read_tree(volume, node, path)
        elif isinstance(node, Regular):
            content = sha256(node.content.read(0, node.size)).hexdigest()
            yield f"the file {path}", f"{node.mode:o} {node.uid}:{node.gid} {content}"
        elif isinstance(node, Symlink):
            yield f"the file {path}", node.target
