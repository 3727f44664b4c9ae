"""What a command line may change, found by its words before it runs, and why some lines cannot be undone.

The analysis is conservative: what it does not know is refused. Programs on the agent's own host change nothing but that
host, whose files are the agent's notes and no part of the system; so only kubectl, helm, ssh, scp and requests count there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from shlex import join
from typing import Final

from aiopslab.apps import Component
from aiopslab.orchestrator.evaluation.reads import SHELLS, changes_here, list_commands, split_ssh, split_words
from aiopslab.orchestrator.transactions.rows import find_administrators

EVERY_NODE: Final = "*"
_READING_VERBS: Final = split_words(
    "get describe logs top explain api-resources api-versions version cluster-info config auth diff wait events port-forward "
    "kustomize help completion options plugin"
)
_READING_PAIRS: Final = frozenset(
    {("rollout", "status"), ("rollout", "history"), ("apply", "view-last-applied")}
)
_KUBECTL_VALUES: Final = split_words(
    "-n --namespace --context --cluster --user --kubeconfig -s --server -v --as --token"
)
"""Options of kubectl before its verb that have a value."""
_READING_RELEASES: Final = split_words(
    "list ls status get history show template search repo env version lint test"
)
_VOLUMES: Final = re.compile(
    r"(pvc|pv|persistentvolumes?|persistentvolumeclaims?|ns|namespaces?|crds?|customresourcedefinitions?)(\.[\w.]+)?(/.*)?",
    re.IGNORECASE,
)
_VOLUME_KINDS: Final = re.compile(r"PersistentVolume|kind\W+(Namespace|CustomResourceDefinition)\b")
_HIDDEN: Final = re.compile(r"\b(kubectl|helm|ssh|scp|curl|wget)\b")
_TEXT_PROGRAMS: Final = split_words(
    "grep egrep fgrep echo printf which type man jq sed cat head tail pgrep ps wc sort uniq tr cut less"
)
_OWN_PROGRAM: Final = re.compile(r"(^|[;&|(]|\bdo|\bthen)\s*(\./|~/|/tmp/|/root/|/home/)")
_OPAQUE: Final = split_words("alias eval source . python python3 perl ruby node expect crontab at batch")
_FILE_WRITERS: Final = split_words("sed tee cp mv rm rmdir touch chmod chown mkdir ln truncate install >")
_RULE_WRITERS: Final = split_words(
    "iptables ip6tables iptables-restore tc sysctl systemctl service kill pkill killall crictl"
)
"""Programs whose effects a snapshot of the place restores, or that only end what is started again."""
_BUILTINS: Final = split_words("read export local return exit break continue wait shift declare let :")
_RESTARTS_HOST: Final = split_words("reboot poweroff halt kexec suspend hibernate isolate rescue emergency")
_LOST_ROWS: Final = re.compile(
    r"runCommand|adminCommand|shutdownServer|fsync|dropAllUsers|setProfilingLevel|killOp|copyDatabase"
)
_ACCOUNT: Final = re.compile(
    r"(?:dropUser|removeUser|changeUserPassword|revokeRolesFromUser)\(\s*['\"]([^'\"]+)"
    r"|updateUser\(\s*['\"]([^'\"]+)[^)]*pwd"
)
"""Names the users that lose rights or get another password."""
_QUERY: Final = re.compile(
    r"/api/v1/(query|query_range|query_exemplars|series|labels?|format_query)\b|/loki/api/"
)
"""Addresses that answer a query, also one that is posted."""
_HEREDOC: Final = re.compile(r"<<-?\s*(['\"]?)(\w+)\1[^\n]*\n.*?\n\s*\2\b", re.DOTALL)
_UNSPECIFIC: Final = re.compile(
    r"\$|--all\b|\s-l[\s=]|--selector|\s-f[\s=]|--filename|\bhelm\b|\bdrain\b|\bxargs\b|\s-k\s"
)
_KEYED: Final = split_words(
    "set setex setnx psetex getset append incr incrby incrbyfloat decr decrby setrange setbit hset hmset hsetnx hdel hincrby "
    "lpush rpush lpop rpop lrem lset ltrim linsert sadd srem spop zadd zrem zincrby zremrangebyscore zremrangebyrank expire "
    "pexpire expireat persist del unlink"
)
"""Commands of Redis that change the keys that they name."""
_ALL_KEYS: Final = frozenset({"del", "unlink"})


@dataclass(frozen=True)
class RedisWrite:
    """Keys, or a setting, that a command of Redis changes."""

    store: str
    keys: tuple[str, ...] = ()
    setting: str = ""


@dataclass
class Effects:
    """What a line may change."""

    changes_objects: bool = False
    nodes: dict[str, list[str]] = field(default_factory=dict)
    """Absolute paths that it names, by node; ``EVERY_NODE`` if the node is a variable."""
    pods: dict[str, list[str]] = field(default_factory=dict)
    """The same by the words of kubectl that reach the container: ``-n shop exec deploy/web``."""
    enters_networks: bool = False
    """Whether it changes rules in the network namespaces of pods on the nodes."""
    rows: set[str] = field(default_factory=set)
    """Databases whose rows it may change."""
    backups: set[str] = field(default_factory=set)
    """Databases without a volume that it may restart, and whose rows would be lost."""
    keys: list[RedisWrite] = field(default_factory=list)
    refusal: str = ""
    """Why it cannot be undone, a sentence; empty if it can."""

    @property
    def can_change(self) -> bool:
        """Whether it may change anything."""
        return bool(self.changes_objects or self.nodes or self.pods or self.rows or self.keys or self.refusal)


class _Refused(Exception):
    """The line cannot be undone; the message is a sentence."""


def analyse(line: str, components: Sequence[Component]) -> Effects:
    """Return what a line, typed at the agent's terminal, may change."""
    effects = Effects()
    try:
        _Analysis(line, components, effects).run()
    except _Refused as error:
        effects.refusal = str(error)
    except ValueError:
        effects.refusal = "The quotation marks of this line do not match, so its effects are unknown."
    return effects


class _Analysis:
    """The analysis of one line."""

    def __init__(self, line: str, components: Sequence[Component], effects: Effects) -> None:
        self._line = line
        self._components = components
        self._effects = effects

    def run(self) -> None:
        """Fill in the effects; raises ``_Refused`` and ``ValueError``."""
        code = _HEREDOC.sub(" ", self._line)
        if _OWN_PROGRAM.search(code):
            raise _Refused("What a program of your own does cannot be seen: write the commands themselves.")
        for words in list_commands(code, is_local=True):
            self._check_local(words)
        if self._effects.can_change and re.search(r"(?<![&>|])&(?![&>])\s*($|[^\d\s])|\bnohup\b", code):
            raise _Refused("A command that changes something must not run in the background: leave out '&'.")
        if self._effects.changes_objects:
            self._effects.backups |= self._find_stores_at_risk()

    def _find_stores_at_risk(self) -> set[str]:
        """Return the databases without a volume that a change of objects may restart."""
        stores = [
            known.name for known in self._components if known.role == "mongodb" and not known.persistent
        ]
        is_unspecific = bool(_UNSPECIFIC.search(_HEREDOC.sub(" -f - ", self._line)))
        return {name for name in stores if is_unspecific or name in self._line}

    def _check_local(self, words: Sequence[str]) -> None:
        if not words or words[1:2] == ["in"]:  # the variable of a loop
            return
        name, *rest = words
        if name in _OPAQUE or (name in SHELLS and "-c" not in rest) or name.startswith("$"):
            raise _Refused(f"What '{name}' runs cannot be seen in this line: write the commands themselves.")
        if name in SHELLS:
            for command in list_commands(rest[rest.index("-c") + 1], is_local=True):
                self._check_local(command)
        elif name == "kubectl":
            self._check_kubectl(rest)
        elif name == "helm":
            self._check_helm(rest)
        elif name in ("curl", "wget") and _sends_change(words):
            raise _Refused(f"A request that '{name}' sends to change something cannot be undone.")
        elif name == "scp" and rest and ":" in rest[-1]:
            host, _, path = rest[-1].partition(":")
            self._add_node(host.rpartition("@")[2], [path])
        elif name == "ssh":
            host, line = split_ssh(rest)
            paths: list[str] = []
            if line and self._check_there(line, paths):
                self._add_node(host, paths)
        elif name not in _TEXT_PROGRAMS and any(_HIDDEN.search(word) for word in rest):
            raise _Refused(f"What '{name}' runs cannot be seen in this line: write the commands themselves.")

    def _add_node(self, host: str, paths: Iterable[str]) -> None:
        node = EVERY_NODE if "$" in host or "SUBSTITUTED" in host else host
        self._effects.nodes.setdefault(node, []).extend(_require_absolute(paths))

    def _check_helm(self, words: Sequence[str]) -> None:
        verb = next((word for word in words if not word.startswith("-")), "")
        if verb in ("uninstall", "delete", "un"):
            raise _Refused("helm uninstall deletes claims with their data, of which there is no backup.")
        if verb and verb not in _READING_RELEASES and "--dry-run" not in words:
            self._effects.changes_objects = True

    def _check_kubectl(self, words: Sequence[str]) -> None:
        own = list(words[: words.index("--")]) if "--" in words else list(words)
        command = list(words[len(own) + 1 :])
        verb, place = _find_verb(own)
        following = [word for word in own[place + 1 :] if not word.startswith("-")]
        if verb == "exec":
            self._check_exec(own, command)
        elif verb == "cp":
            self._check_copy(own, following)
        elif verb == "debug" or (verb == "attach" and any("i" in word for word in own if word[:1] == "-")):
            raise _Refused(
                f"What is done by kubectl {verb} cannot be undone: use kubectl exec, or ssh to the node."
            )
        elif verb == "proxy":
            raise _Refused("Requests by kubectl proxy cannot be undone: use kubectl itself.")
        elif (
            verb
            and (verb not in _READING_VERBS or "reconcile" in following)
            and (verb, *following[:1]) not in _READING_PAIRS
        ):
            if any(word.startswith("--dry-run") and not word.endswith("none") for word in own):
                return
            self._check_deletion(verb, own, following)
            if command:  # what a pod of kubectl run does
                self._check_there(join(command), [], in_own_pod=True)
            self._effects.changes_objects = True

    def _check_deletion(self, verb: str, own: Sequence[str], following: Sequence[str]) -> None:
        """Refuse what deletes volumes, or objects that the line does not name."""
        kinds = [part for word in following for part in word.split(",")]
        if verb == "delete" and (lost := next(filter(_VOLUMES.fullmatch, kinds), "")):
            raise _Refused(f"kubectl delete {lost} would lose data of which there is no backup.")
        if verb == "delete" and any(re.match(r"-[fk]|--filename|--kustomize", word) for word in own):
            raise _Refused("kubectl delete -f does not show what it deletes: name the objects.")
        if "--prune" in own or ("--force" in own and verb == "replace" and _VOLUME_KINDS.search(self._line)):
            raise _Refused(f"This kubectl {verb} would delete data of which there is no backup.")

    def _check_exec(self, own: Sequence[str], command: Sequence[str]) -> None:
        if not command:
            raise _Refused("Separate the command from kubectl's words by '--'.")
        paths: list[str] = []
        if self._check_there(join(command), paths):
            kept = [word for word in own if word not in ("-i", "-t", "-it", "-ti", "--stdin", "--tty")]
            if any("$" in word or word == "SUBSTITUTED" for word in kept):
                raise _Refused("Name the pod itself in kubectl exec, without a variable.")
            self._effects.pods.setdefault(join(kept), []).extend(_require_absolute(paths))

    def _check_copy(self, own: Sequence[str], following: Sequence[str]) -> None:
        if len(following) < 2 or ":" not in following[-1]:
            return
        target, _, path = following[-1].partition(":")
        namespace, _, pod = target.rpartition("/")
        space = ["-n", namespace] if namespace else list(own[: own.index("cp")])
        space += [
            part
            for flag in ("-n", "-c")
            if flag in own and flag not in space
            for part in own[own.index(flag) :][:2]
        ]
        container = space[space.index("-c") :][:2] if "-c" in space else []
        words = [word for word in space if word not in container]
        self._effects.pods.setdefault(join([*words, "exec", pod, *container]), []).extend(
            _require_absolute([path])
        )

    def _check_there(self, line: str, paths: list[str], in_own_pod: bool = False) -> bool:
        """Add the effects of a line in a container or on a node; return whether its place must be recorded."""
        must_record = False
        self._effects.enters_networks |= "nsenter" in line
        for words in list_commands(line, is_local=False):
            if not words or words[1:2] == ["in"] or words[0] in _BUILTINS:
                continue
            name, *rest = words
            if name in SHELLS and "-c" in rest[:-1]:
                must_record |= self._check_there(rest[rest.index("-c") + 1], paths, in_own_pod)
            elif name in ("mongo", "mongosh"):
                self._check_mongo(words)
            elif name == "redis-cli":
                self._check_redis(rest)
            elif name == "kubectl":
                self._check_kubectl(rest)
            elif name in ("curl", "wget"):
                if _sends_change(words):
                    raise _Refused(f"A request that '{name}' sends to change something cannot be undone.")
            elif not changes_here(words) or (in_own_pod and name != "nc"):
                continue
            elif name in _FILE_WRITERS:
                paths += (
                    [word for word in rest if not word.startswith("-")]
                    if name != "sed"
                    else _get_sed_files(rest)
                )
                must_record = True
            elif name in _RULE_WRITERS and not _RESTARTS_HOST & set(rest):
                must_record = True
            else:
                raise _Refused(f"What '{name or line}' does there cannot be undone.")
        return must_record

    def _find_named_stores(self, role: str) -> set[str]:
        named = {known.name for known in self._components if known.role == role and known.name in self._line}
        if not named:
            raise _Refused("The database is not named in this line, so its rows cannot be recorded.")
        return named

    def _check_mongo(self, words: Sequence[str]) -> None:
        script = self._line
        if "--eval" in words and not changes_here(words):
            return
        lost = _LOST_ROWS.search(script)
        if lost:
            raise _Refused(f"What {lost[0]} does in a database cannot be undone.")
        lessened = {name for names in _ACCOUNT.findall(script) for name in names}
        for name in lessened & find_administrators(self._components):
            raise _Refused(f"An undo logs in as '{name}', so this user must stay as it is.")
        self._effects.rows |= self._find_named_stores("mongodb")

    def _check_redis(self, words: Sequence[str]) -> None:
        if not changes_here(["redis-cli", *words]):
            return
        rest = list(words)
        while rest and rest[0].startswith("-"):
            rest = rest[1 + (rest[0] in ("-h", "-p", "-a", "-n", "-u", "--user", "--pass")) :]
        verb, setting = " ".join(rest[:2]).lower(), ""
        keys: tuple[str, ...] = ()
        if verb == "config get":
            return
        if verb == "config set" and len(rest) > 2:
            setting = rest[2]
        elif (verb := verb.partition(" ")[0]) in _KEYED and len(rest) > 1:
            keys = tuple(rest[1:] if verb in _ALL_KEYS else rest[1:2])
        else:
            raise _Refused(f"What redis-cli {verb} does cannot be undone.")
        self._effects.keys += [
            RedisWrite(store, keys, setting) for store in sorted(self._find_named_stores("redis"))
        ]


def _sends_change(words: Sequence[str]) -> bool:
    """Whether a request may change something: not one that reads, or posts a query."""
    is_get = any(word in ("-G", "--get") for word in words)
    return changes_here(words) and not is_get and not any(map(_QUERY.search, words))


def _find_verb(words: Sequence[str]) -> tuple[str, int]:
    """Return the verb of kubectl and its place, after the options before it."""
    place = 0
    while place < len(words) and words[place].startswith("-"):
        place += 2 if words[place] in _KUBECTL_VALUES else 1
    return (words[place], place) if place < len(words) else ("", place)


def _get_sed_files(words: Sequence[str]) -> list[str]:
    """Return the files of ``sed -i``: all words after the script, or all but options if a script follows ``-e``."""
    plain = [
        word for index, word in enumerate(words) if not word.startswith("-") and words[index - 1] != "-e"
    ]
    return plain if "-e" in words else plain[1:]


def _require_absolute(paths: Iterable[str]) -> list[str]:
    """Return the absolute paths among arguments; raises ``_Refused`` if a path is not absolute."""
    found = []
    for path in paths:
        if path.startswith("/") and "$" not in path and "SUBSTITUTED" not in path:
            found.append(path)
        elif "/" in path or "." in path or "$" in path or path == "SUBSTITUTED":
            raise _Refused(
                f"The file '{path}' cannot be recorded: give its absolute path, without variables."
            )
    return found
