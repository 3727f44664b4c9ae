"""Nodes and containers before a transaction, and how they are restored: files, packet filters, queues, settings, services.

Everything is read and written by shell commands, through ssh or kubectl exec, so it works wherever these reach. Of a node the
folder /etc, the kubelet's configuration and all files that a command names are recorded; of a container only the latter. What
has gone with its pod is not restored: a controller has replaced it. Classes and filters of tc below a root are not recorded.
"""

from __future__ import annotations

import io
import re
import tarfile
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from shlex import quote
from typing import Final

from aiopslab.generators import OperationFailed, Site

MAX_KILOBYTES: Final = 8 << 10
"""Larger files and folders are not recorded."""
NODE_PATHS: Final = ("/etc", "/var/lib/kubelet/config.yaml", "/var/lib/kubelet/kubeadm-flags.env")
HOST: Final = "host"
_PLAIN: Final = re.compile(r"[\w./*?@:+,-]+")
_CLUSTER_RULE: Final = re.compile(r"\b(KUBE|KIND|CNI)-")
"""Rules and chains that the cluster writes itself."""
_VOLATILE: Final = re.compile(
    r"^(fs\.(file-nr|inode-nr|inode-state|dentry-state)|kernel\.(random|ns_last_pid|pty\.nr)|.*_count$)"
)
_DEFAULT_QUEUES: Final = frozenset({"noqueue", "pfifo_fast", "fq_codel", "mq", "fq"})
_QUEUE: Final = re.compile(r"^qdisc (\S+) \S+ dev (\S+) root(?: refcnt \d+)?(.*)$")
_READ_RULES: Final = "{enter}iptables-save 2> /dev/null | grep -v '^#'; echo @@queues {name}; {enter}tc qdisc show 2> /dev/null"
_READ_NETWORKS: Final = (
    "for id in $(crictl pods -q); do pid=$(crictl inspectp $id | jq .info.pid); echo @@rules $id; "
    + _READ_RULES.format(enter="nsenter -t $pid -n ", name="$id")
    + "; done"
)
_READ_SERVICES: Final = (
    "for unit in $(systemctl list-unit-files --type=service --no-legend 2> /dev/null | cut -d' ' -f1); do "
    "echo $unit $(systemctl is-enabled $unit) $(systemctl is-active $unit); done"
)


@dataclass
class PlaceState:
    """What was read of a place."""

    rules: dict[str, str] = field(default_factory=dict)
    """The packet filter as iptables-save prints it, of the host and of the networks of pods by their sandboxes."""
    queues: dict[tuple[str, str], str] = field(default_factory=dict)
    """The root queueing discipline of each device, by network and device; empty for a default one."""
    settings: dict[str, str] = field(default_factory=dict)
    services: dict[str, tuple[str, str]] = field(default_factory=dict)
    files: dict[str, tarfile.TarInfo] = field(default_factory=dict)
    contents: dict[str, bytes] = field(default_factory=dict)


class Place:
    """A node or a container whose state is recorded before commands change it."""

    def __init__(
        self, site: Site, name: str, enter: str, *, is_node: bool, enters_networks: bool = False
    ) -> None:
        """``enter`` is the beginning of a line that runs the rest there: ``ssh node`` or ``kubectl … exec -i POD --``."""
        self.name = name
        self._site = site
        self._enter = enter
        self._is_node = is_node
        self._enters_networks = enters_networks
        self._paths: list[str] = []
        self._before: PlaceState | None = None

    @classmethod
    def of_node(cls, site: Site, node: str, *, enters_networks: bool) -> Place:
        """Return the place of a node."""
        return cls(site, f"node {node}", f"ssh {node}", is_node=True, enters_networks=enters_networks)

    @classmethod
    def of_container(cls, site: Site, words: str) -> Place:
        """Return the place of a container that kubectl reaches by these words; raises ``OperationFailed`` if it does not.

        ``deploy/web`` may mean another pod later, so the pod is found now.
        """
        pod = site.run(f"kubectl {words} -- hostname").strip()
        parts = words.split()
        parts[parts.index("exec") + 1 :] = [
            word
            for word in parts[parts.index("exec") + 1 :]
            if word.startswith("-") or parts[parts.index(word) - 1] in ("-c", "-n")
        ]
        parts.insert(parts.index("exec") + 1, pod)
        return cls(site, f"pod {pod}", f"kubectl {' '.join(parts)} -i -- sh -c", is_node=False)

    def record(self, paths: Sequence[str]) -> None:
        """Record the place before a command changes it, or further files of it; raises ``OperationFailed``."""
        fresh = [path for path in (*(NODE_PATHS if self._is_node else ()), *paths) if path not in self._paths]
        if self._before is not None and not fresh:
            return
        fresh = self._find_tops(fresh)
        self._paths += fresh
        state = self._read(fresh)
        if self._before is None:
            self._before = state
        else:
            self._before.files |= state.files
            self._before.contents |= state.contents

    def restore(self) -> list[str]:
        """Make the place as it was; return what could not be restored."""
        assert self._before is not None
        try:
            now = self._read(self._paths)
        except OperationFailed as error:
            return (
                []
                if not self._is_node and "not found" in str(error)
                else [f"{self.name} cannot be reached: {error}"]
            )
        for line, text in self._write_repairs(self._before, now):
            self._run(line, text)
        return [f"{what} of {self.name}" for what in self.find_changes()]

    def find_changes(self) -> list[str]:
        """Return what differs now from what was recorded; raises ``OperationFailed``."""
        assert self._before is not None
        before, now = self._before, self._read(self._paths)
        return [
            *(f"packet filter ({name})" for name, text in before.rules.items()
              if name in now.rules and _select_own(text) != _select_own(now.rules[name])),
            *(f"queue of {device}" for (net, device), spec in before.queues.items()
              if now.queues.get((net, device), spec) != spec),
            *(f"setting {name}" for name, value in before.settings.items() if now.settings.get(name) != value),
            *(f"service {name}" for name, state in before.services.items() if now.services.get(name) != state),
            *(f"file {path}" for path in sorted({*before.files, *now.files}) if _differs(before, now, path)),
        ]  # fmt: skip

    def _run(self, line: str, text: str = "") -> str:
        typed = f" <<'END_OF_TEXT'\n{text}\nEND_OF_TEXT" if text else ""
        return self._site.attempt(f"{self._enter} {quote(line)}{typed}").stdout.decode(errors="replace")

    def _find_tops(self, paths: Sequence[str]) -> list[str]:
        """Return the paths, those that do not exist with the topmost folder that would be created for them."""
        if not paths:
            return []
        climb = 'while [ ! -e "$p" ] && [ ! -e "$(dirname "$p")" ]; do p=$(dirname "$p"); done; echo "$p"'
        listed = self._run(f"for p in {_join_paths(paths)}; do {climb}; done").splitlines()
        return list(dict.fromkeys(listed)) or list(paths)

    def _read(self, paths: Sequence[str]) -> PlaceState:
        parts = [f"echo @@rules {HOST}; {_READ_RULES.format(enter='', name=HOST)}"]
        if self._is_node:
            parts += ["echo @@settings; sysctl -a 2> /dev/null", f"echo @@services; {_READ_SERVICES}"]
        if self._enters_networks:
            parts.append(_READ_NETWORKS)
        if paths:
            listed = _join_paths([path.lstrip("/") for path in paths])
            size = f"$(cd / && du -sck {listed} 2> /dev/null | tail -n 1 | cut -f 1)"
            pack = f"tar -C / -cf - {listed} 2> /dev/null | base64 -w 0"
            pack = f"cd / && {pack}"
            parts.append(
                f"echo @@files; if [ {size} -gt {MAX_KILOBYTES} ]; then echo large; else {pack}; fi; echo"
            )
        done = self._site.attempt(f"{self._enter} {quote('; '.join((*parts, 'echo @@end')))}")
        output = done.stdout.decode(errors="replace")
        if "@@end" not in output:
            raise OperationFailed(done.stderr.decode(errors="replace").strip() or "its state cannot be read")
        return _parse_state(output)

    def _write_repairs(self, before: PlaceState, now: PlaceState) -> Iterator[tuple[str, str]]:
        """Yield the lines that restore the place, each with its standard input."""
        yield from self._write_network_repairs(before, now)
        for name, value in before.settings.items():
            if now.settings.get(name) != value:
                yield f"sysctl -w {quote(f'{name}={value}')}", ""
        yield from _write_file_repairs(before, now)
        for unit, (enabled, active) in before.services.items():
            is_enabled, is_active = now.services.get(unit, ("", ""))
            if enabled != is_enabled:
                verb = {"enabled": "enable", "disabled": "disable", "masked": "mask"}.get(enabled, "unmask")
                yield f"systemctl unmask {unit}; systemctl {verb} {unit}", ""
            if active != is_active:
                yield f"systemctl {'start' if active == 'active' else 'stop'} {unit}", ""

    def _write_network_repairs(self, before: PlaceState, now: PlaceState) -> Iterator[tuple[str, str]]:
        for name, text in before.rules.items():
            if name in now.rules and _select_own(text) != _select_own(now.rules[name]):
                yield f"{_enter_network(name)}iptables-restore", _merge_rules(text, now.rules[name])
        for (name, device), spec in before.queues.items():
            if now.queues.get((name, device), spec) != spec:
                change = f"replace dev {device} root {spec}" if spec else f"del dev {device} root"
                yield f"{_enter_network(name)}tc qdisc {change}", ""


def _enter_network(name: str) -> str:
    return "" if name == HOST else f"nsenter -t $(crictl inspectp {name} | jq .info.pid) -n "


def _join_paths(paths: Iterable[str]) -> str:
    """Join paths for a shell; wildcards stay wildcards."""
    return " ".join(path if _PLAIN.fullmatch(path) else quote(path) for path in paths)


def _parse_state(output: str) -> PlaceState:
    state = PlaceState()
    for section in re.split(r"^@@", output, flags=re.MULTILINE)[1:]:
        title, _, body = section.partition("\n")
        kind, _, name = title.partition(" ")
        lines = body.splitlines()
        if kind == "rules" and body.strip():
            state.rules[name] = body
        elif kind == "queues":
            state.queues |= {(name, device): spec for device, spec in map(_parse_queue, lines) if device}
        elif kind == "settings":
            pairs = (line.split(" = ", 1) for line in lines if " = " in line)
            state.settings = {key: value for key, value in pairs if not _VOLATILE.match(key)}
        elif kind == "services":
            state.services = {
                line.split()[0]: (line.split()[1], line.split()[2])
                for line in lines
                if len(line.split()) == 3
            }
        elif kind == "files":
            _unpack(body.strip(), state)
    return state


def _parse_queue(line: str) -> tuple[str, str]:
    match = _QUEUE.match(line.strip())
    if match is None:
        return "", ""
    kind, device, settings = match.groups()
    spec = f"{kind} {' '.join(settings.split())}".strip().replace(" lat ", " latency ")
    return device, "" if kind in _DEFAULT_QUEUES else spec


def _unpack(text: str, state: PlaceState) -> None:
    if text == "large":
        raise OperationFailed(f"the files are larger than {MAX_KILOBYTES >> 10} MiB")
    with tarfile.open(fileobj=io.BytesIO(b64decode(text)), mode="r:") as archive:
        for member in archive:
            path = f"/{member.name.rstrip('/')}"
            state.files[path] = member
            content = archive.extractfile(member) if member.isreg() else None
            if content is not None:
                state.contents[path] = content.read()


def _differs(before: PlaceState, now: PlaceState, path: str) -> bool:
    old, new = before.files.get(path), now.files.get(path)
    if old is None or new is None:
        return True
    facts = [(info.type, info.mode, info.uid, info.gid, info.linkname) for info in (old, new)]
    return facts[0] != facts[1] or before.contents.get(path) != now.contents.get(path)


def _write_file_repairs(before: PlaceState, now: PlaceState) -> Iterator[tuple[str, str]]:
    changed = [path for path in sorted({*before.files, *now.files}) if _differs(before, now, path)]
    gone = [
        path
        for path in changed
        if path in now.files and (path not in before.files or before.files[path].type != now.files[path].type)
    ]
    if gone:
        yield f"rm -rf {' '.join(map(quote, gone))}", ""
    restored = [path for path in changed if path in before.files]
    if restored:
        yield "base64 -d | tar -xpf - -C /", b64encode(_pack(before, restored)).decode()


def _pack(state: PlaceState, paths: Sequence[str]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:", format=tarfile.GNU_FORMAT) as archive:
        for path in paths:
            content = state.contents.get(path)
            archive.addfile(state.files[path], io.BytesIO(content) if content is not None else None)
    return packed.getvalue()


def _select_own(rules: str) -> list[str]:
    """Return the rules, chains and policies that the cluster has not written, without counters."""
    lines = (re.sub(r" \[\d+:\d+\]$", "", line) for line in rules.splitlines())
    return [line for line in lines if not _CLUSTER_RULE.search(line)]


def _merge_rules(before: str, now: str) -> str:
    """Return the present rules of the cluster with all others as they were, in the places that they had."""
    present: dict[tuple[str, str], list[str]] = {}
    for place, line in _locate_rules(now):
        if _CLUSTER_RULE.search(line):
            present.setdefault(place, []).append(line)
    merged: dict[str, list[str]] = {}
    for place, line in _locate_rules(before):
        own = not _CLUSTER_RULE.search(line)
        queue = present.get(place, [])
        if own or queue:
            merged.setdefault(place[0], []).append(line if own else queue.pop(0))
    for (table, _), left in present.items():
        merged.setdefault(table, []).extend(left)
    parts = []
    for table, lines in merged.items():
        chains = [line for line in lines if line.startswith(":")]
        parts += [table, *chains, *(line for line in lines if not line.startswith(":")), "COMMIT"]
    return "\n".join(parts)


def _locate_rules(text: str) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield each declaration and rule with its table and chain."""
    table = ""
    for line in text.splitlines():
        if line.startswith("*"):
            table = line
        elif line.startswith(":"):
            yield (table, ":"), line
        elif line.startswith("-A "):
            yield (table, line.split()[1]), line


def list_states(places: Mapping[str, Place]) -> list[str]:
    """Return what differs now from what was recorded, at all places."""
    return [f"{what} of {place.name}" for place in places.values() for what in place.find_changes()]
