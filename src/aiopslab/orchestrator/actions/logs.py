"""What containers have written, folded: of one service, or searched for in a namespace.

Lines come from the log collector, which has them from every run of every container, those that have ended too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from typing import Final

from aiopslab.orchestrator.actions.base import ActionsBase, check_minutes, in_words, stamp, unknown
from aiopslab.orchestrator.actions.bounds import SHOWN_BYTES, SHOWN_LINES, cut_line, head, tail
from aiopslab.orchestrator.actions.folding import fold
from aiopslab.orchestrator.actions.pods import NobodyOfThatName, pods_named
from aiopslab.orchestrator.actions.registry import action
from aiopslab.utils.status import InvalidActionError
from simcloud.golang.regexps import BadRegex
from simcloud.kubernetes.api.objects import Object, at
from simcloud.telemetry.logs.search import search
from simcloud.telemetry.logs.store import SECOND_NS, LogStream
from simcloud.telemetry.metrics.matchers import Matcher

READ_LINES: Final = 3000
"""The newest of one run of a container; older ones are not looked at."""
FOUND_LINES: Final = 3000
LEAST_LINES: Final = 20
_ATTEMPT: Final = re.compile(r"/(\d+)\.log$")


class LogActions(ActionsBase):
    """Reading logs."""

    @action
    def get_logs(self, namespace: str, service: str) -> str:
        """
        Shows the logs of a service: of all containers of all its pods, and of a container's previous run if it has
        restarted. Lines that differ only in times, ids and numbers are folded into one, with "x" and their count.

        Args:
            namespace (str): The namespace that the problem names, or another one such as "kube-system".
            service (str): The name of a Service, Deployment, StatefulSet, DaemonSet, Job or pod.

        Returns:
            str: The lines, oldest first, under a title for each container.
        """
        self._check_namespace(namespace)
        try:
            pods = pods_named(self._log, namespace, service)
        except NobodyOfThatName as error:
            all_names = f'List them with exec_shell("kubectl get deploy,sts,ds,svc,pods -n {namespace}").'
            raise unknown("service, workload or pod", service, error.known, all_names) from None
        streams = self.environment.monitoring.loki.store.select([Matcher("namespace", "=", namespace)])
        runs = _runs(streams)
        if not pods:
            return self._of_gone_pods(namespace, service, runs)
        parts = [part for pod in pods for part in _parts(pod, runs)]
        return self._shown(namespace, parts)

    def _of_gone_pods(self, namespace: str, service: str, runs: Runs) -> str:
        """A service without pods: what the last ones wrote before they went."""
        bare = service.rpartition("/")[2]
        gone = {key: streams for key, streams in runs.items() if dict(streams[0].labels).get("app") == bare}
        told = f"{service!r} has no pods now."
        if not gone:
            return f'{told} Why, exec_shell("kubectl describe deploy,rs,svc -n {namespace}") may say.'
        last = max(gone, key=lambda key: max(stream.times_ns[-1] for stream in gone[key]))
        title = f"[pod {last[0]}, container {last[1]}: it is gone, these are its last lines]"
        return f"{told}\n{self._shown(namespace, [(title, gone[last])])}"

    def _shown(self, namespace: str, parts: Sequence[tuple[str, list[LogStream]]]) -> str:
        now_s = self._now_s()
        room_lines = max(LEAST_LINES, SHOWN_LINES // len(parts))
        room_bytes = max(SHOWN_BYTES // 16, SHOWN_BYTES // len(parts))
        out = [f"Logs up to {stamp(now_s)}; folded lines show the newest of each kind."]
        for title, streams in parts:
            written = [one.line(now_s) for one in fold(_lines(streams, READ_LINES))]
            pod = title.removeprefix("[pod ").partition(",")[0]
            hint = (
                f'Older ones: exec_shell("kubectl logs -n {namespace} {pod} --all-containers | head -n 50")'
            )
            out += [
                title,
                tail(written, hint, room_lines, room_bytes) if written else "(nothing was written)",
            ]
        return "\n".join(out)

    @action
    def search_logs(
        self, namespace: str, text: str = "", pattern: str = "", service: str = "", minutes: float = 10
    ) -> str:
        """
        Searches the logs of a whole namespace, or of one service in it. Equal lines are folded with their count.

        Args:
            namespace (str): The namespace to search.
            text (str): What the lines contain, in these letters, for example "connection refused".
            pattern (str): A regular expression that the lines match, for example "(?i)error|fail".
            service (str): Only the lines of this service, workload or pod.
            minutes (float): How far to look back.

        Returns:
            str: The lines of each container, oldest first, under a title with their number.
        """
        self._check_namespace(namespace)
        start_s = self._now_s() - 60 * check_minutes(minutes, "minutes")
        where = [self._only(namespace, service)] if service else []
        try:
            found = search(
                self.environment.monitoring.loki.store,
                namespace,
                text=text,
                pattern=pattern,
                where=where,
                start_ns=round(start_s * SECOND_NS),
                limit=FOUND_LINES,
            )
        except BadRegex as error:
            raise InvalidActionError(
                f"pattern is no regular expression: {cut_line(str(error), 200)}. Use text for words as they are written."
            ) from None
        by_container: dict[tuple[str, str], list[tuple[float, str]]] = {}
        for line in reversed(found):
            labels = dict(line.labels)
            place = labels.get("pod", ""), labels.get("container", "")
            by_container.setdefault(place, []).append((line.time_ns / SECOND_NS, line.text))
        return self._results(by_container, minutes)

    def _only(self, namespace: str, service: str) -> Matcher:
        """Narrow a search to the pods of a service, those that are gone too."""
        bare = service.rpartition("/")[2]
        try:
            pods = pods_named(self._log, namespace, service)
        except NobodyOfThatName as error:
            raise unknown(
                "service, workload or pod", service, error.known, "Leave service out to search all."
            ) from None
        if not pods:
            return Matcher("app", "=", bare)
        return Matcher("pod", "=~", "|".join(re.escape(pod["metadata"]["name"]) for pod in pods))

    def _results(self, by_container: dict[tuple[str, str], list[tuple[float, str]]], minutes: float) -> str:
        now_s = self._now_s()
        if not by_container:
            return (
                f"No such line was written in the last {in_words(minutes)} (up to {stamp(now_s)}). "
                "Look further back with minutes, or for less: text is taken as it is written, pattern may begin with (?i)."
            )
        out: list[str] = []
        for (pod, container), lines in sorted(by_container.items(), key=lambda one: -len(one[1])):
            out.append(f"[pod {pod}, container {container}: {len(lines)} lines]")
            out += [one.line(now_s) for one in fold(lines)]
        return head(out, "Narrow the search: name a service, a longer text, or fewer minutes.")


Runs = dict[tuple[str, str, int], list[LogStream]]
"""Streams by pod, container and the number of the run."""


def _runs(streams: Iterable[LogStream]) -> Runs:
    found: Runs = {}
    for stream in streams:
        labels = dict(stream.labels)
        number = _ATTEMPT.search(labels.get("filename", ""))
        key = labels.get("pod", ""), labels.get("container", ""), int(number[1]) if number else 0
        found.setdefault(key, []).append(stream)
    return found


def _parts(pod: Object, runs: Runs) -> Iterator[tuple[str, list[LogStream]]]:
    """The containers of a pod: title and lines, the previous run first where there was one."""
    name = pod["metadata"]["name"]
    statuses = {
        one["name"]: one
        for kind in ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses")
        for one in at(pod, "status", kind, default=None) or ()
    }
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        for container in pod["spec"].get(kind) or ():
            status = statuses.get(container["name"], {})
            place = f"pod {name}, container {container['name']}"
            numbers = sorted(number for one, two, number in runs if (one, two) == (name, container["name"]))
            for number in numbers[-2:-1]:
                yield f"[{place}, previous run]", runs[name, container["name"], number]
            streams = runs[name, container["name"], numbers[-1]] if numbers else []
            yield f"[{place}: {_state(pod, status)}]", streams


def _state(pod: Object, status: Object) -> str:
    """What a container is doing, in a few words."""
    state: dict[str, Object] = status.get("state") or {}
    kind, detail = next(iter(state.items()), ("", {}))
    reason = detail.get("reason") or at(pod, "status", "phase", default="")
    word = "running" if kind == "running" else f"{kind or 'not started'}, {reason}"
    restarts = status.get("restartCount") or 0
    ready = "" if kind != "running" or status.get("ready") else ", not ready"
    return f"{word}{ready}{f', {restarts} restarts' if restarts else ''}"


def _lines(streams: Sequence[LogStream], most: int) -> Iterator[tuple[float, str]]:
    """The newest lines of a container's outputs, in the order of time."""

    def of(stream: LogStream) -> Iterator[tuple[int, int, str]]:
        first = max(0, len(stream) - most)
        for index in range(first, len(stream)):
            yield stream.times_ns[index], stream.numbers[index], stream.texts[index]

    return ((time_ns / SECOND_NS, text) for time_ns, _, text in merge(*map(of, streams)))
