"""Logs of containers, folded: of one service, or searched in a namespace.

Lines come from the log collector, which has them from every run of every container, ended ones included.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from typing import Final

from aiopslab.orchestrator.actions.environment_actions import (
    ActionsBase,
    check_minutes,
    format_minutes,
    format_time,
    make_unknown_error,
)
from aiopslab.orchestrator.actions.folded_lines import fold_lines
from aiopslab.orchestrator.actions.observations import (
    SHOWN_BYTES,
    SHOWN_LINES,
    cut_line,
    format_head,
    format_tail,
)
from aiopslab.orchestrator.actions.pods import UnknownName, find_pods
from aiopslab.orchestrator.actions.registry import action
from aiopslab.utils import InvalidActionError
from simcloud.golang import BadRegex
from simcloud.kubernetes.api import Object, at
from simcloud.telemetry.logs import SECOND_NS, LogStream, search_lines
from simcloud.telemetry.metrics import Matcher

READ_LINES: Final = 3000
"""Maximum number of lines read of one run of a container: the newest."""
FOUND_LINES: Final = 3000
MIN_LINES: Final = 20
_ATTEMPT: Final = re.compile(r"/(\d+)\.log$")


class LogActions(ActionsBase):
    """Actions on logs."""

    @action
    def get_logs(self, namespace: str, service: str) -> str:
        """
        Shows the logs of a service: all containers of all its pods, and the previous run of a container that has
        restarted. Lines that differ only in times, ids and numbers are folded into one, with "x" and a count.

        Args:
            namespace (str): The namespace given in the problem, or another such as "kube-system".
            service (str): The name of a Service, Deployment, StatefulSet, DaemonSet, Job or pod.

        Returns:
            str: The lines of each container under a title, oldest first.
        """
        self._check_namespace(namespace)
        try:
            pods = find_pods(self._log, namespace, service)
        except UnknownName as error:
            hint = f'List them with exec_shell("kubectl get deploy,sts,ds,svc,pods -n {namespace}").'
            raise make_unknown_error("service, workload or pod", service, error.known, hint) from None
        missing = self.environment.refresh_logs()
        streams = self.environment.monitoring.logs.select([Matcher("namespace", "=", namespace)])
        runs = _group_runs(streams)
        if not pods:
            return _add_note(self._format_gone_pods(namespace, service, runs), missing)
        parts = [part for pod in pods for part in _split_containers(pod, runs)]
        return _add_note(self._format_parts(namespace, parts), missing)

    def _format_gone_pods(self, namespace: str, service: str, runs: Runs) -> str:
        """Return the last lines of the former pods of a service that has none now."""
        bare = service.rpartition("/")[2]
        gone = {key: streams for key, streams in runs.items() if dict(streams[0].labels).get("app") == bare}
        message = f"{service!r} has no pods now."
        if not gone:
            return (
                f'{message} For the reason, see exec_shell("kubectl describe deploy,rs,svc -n {namespace}").'
            )
        last = max(gone, key=lambda key: max(stream.times_ns[-1] for stream in gone[key]))
        title = f"[pod {last[0]}, container {last[1]}: deleted, these are its last lines]"
        return f"{message}\n{self._format_parts(namespace, [(title, gone[last])])}"

    def _format_parts(self, namespace: str, parts: Sequence[tuple[str, list[LogStream]]]) -> str:
        now_s = self._get_now_s()
        max_lines = max(MIN_LINES, SHOWN_LINES // len(parts))
        max_bytes = max(SHOWN_BYTES // 16, SHOWN_BYTES // len(parts))
        out = [f"Logs up to {format_time(now_s)}; a folded line shows the newest of its kind."]
        for title, streams in parts:
            lines = [folded.format(now_s) for folded in fold_lines(_merge_lines(streams, READ_LINES))]
            pod = title.removeprefix("[pod ").partition(",")[0]
            hint = (
                f'Older lines: exec_shell("kubectl logs -n {namespace} {pod} --all-containers | head -n 50")'
            )
            out += [
                title,
                format_tail(lines, hint, max_lines, max_bytes) if lines else "(no output)",
            ]
        return "\n".join(out)

    @action
    def search_logs(
        self, namespace: str, text: str = "", pattern: str = "", service: str = "", minutes: float = 10
    ) -> str:
        """
        Searches the logs of a namespace, or of one service in it. Equal lines are folded with a count.

        Args:
            namespace (str): The namespace to search.
            text (str): Text that the lines contain, case-sensitive, for example "connection refused".
            pattern (str): A regular expression that the lines match, for example "(?i)error|fail".
            service (str): Only the lines of this service, workload or pod.
            minutes (float): Number of minutes to look back.

        Returns:
            str: The lines of each container under a title with their number, oldest first.
        """
        self._check_namespace(namespace)
        start_s = self._get_now_s() - 60 * check_minutes(minutes, "minutes")
        where = [self._match_service(namespace, service)] if service else []
        missing = self.environment.refresh_logs()
        try:
            found = search_lines(
                self.environment.monitoring.logs,
                namespace,
                text=text,
                pattern=pattern,
                where=where,
                start_ns=round(start_s * SECOND_NS),
                limit=FOUND_LINES,
            )
        except BadRegex as error:
            raise InvalidActionError(
                f"pattern is not a valid regular expression: {cut_line(str(error), 200)}. Use the argument text for literal text."
            ) from None
        by_container: dict[tuple[str, str], list[tuple[float, str]]] = {}
        for line in reversed(found):
            labels = dict(line.labels)
            place = labels.get("pod", ""), labels.get("container", "")
            by_container.setdefault(place, []).append((line.time_ns / SECOND_NS, line.text))
        return _add_note(self._format_results(by_container, minutes), missing)

    def _match_service(self, namespace: str, service: str) -> Matcher:
        """Return a matcher for the pods of a service, or for its former pods if it has none now."""
        bare = service.rpartition("/")[2]
        try:
            pods = find_pods(self._log, namespace, service)
        except UnknownName as error:
            raise make_unknown_error(
                "service, workload or pod", service, error.known, "Omit service to search all."
            ) from None
        if not pods:
            return Matcher("app", "=", bare)
        return Matcher("pod", "=~", "|".join(re.escape(pod["metadata"]["name"]) for pod in pods))

    def _format_results(
        self, by_container: dict[tuple[str, str], list[tuple[float, str]]], minutes: float
    ) -> str:
        now_s = self._get_now_s()
        if not by_container:
            return (
                f"No matching line in the last {format_minutes(minutes)} (up to {format_time(now_s)}). "
                "Use more minutes or a shorter text; text is case-sensitive, a pattern may begin with (?i)."
            )
        out: list[str] = []
        for (pod, container), lines in sorted(by_container.items(), key=lambda item: -len(item[1])):
            out.append(f"[pod {pod}, container {container}: {len(lines)} lines]")
            out += [folded.format(now_s) for folded in fold_lines(lines)]
        return format_head(out, "Narrow the search: name a service, a longer text, or fewer minutes.")


def _add_note(text: str, missing: str) -> str:
    """Return an observation, with the reason why older lines are missing if there is one."""
    return f"{text}\nOlder lines and those of deleted pods are missing: {missing}" if missing else text


Runs = dict[tuple[str, str, int], list[LogStream]]
"""Streams by pod, container and run number."""


def _group_runs(streams: Iterable[LogStream]) -> Runs:
    found: Runs = {}
    for stream in streams:
        labels = dict(stream.labels)
        number = _ATTEMPT.search(labels.get("filename", ""))
        key = labels.get("pod", ""), labels.get("container", ""), int(number[1]) if number else 0
        found.setdefault(key, []).append(stream)
    return found


def _split_containers(pod: Object, runs: Runs) -> Iterator[tuple[str, list[LogStream]]]:
    """Yield title and streams of a pod's containers, a previous run before the current one."""
    name = pod["metadata"]["name"]
    statuses = {
        status["name"]: status
        for kind in ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses")
        for status in at(pod, "status", kind, default=None) or ()
    }
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        for container in pod["spec"].get(kind) or ():
            status = statuses.get(container["name"], {})
            title = f"pod {name}, container {container['name']}"
            numbers = sorted(number for *key, number in runs if key == [name, container["name"]])
            for number in numbers[-2:-1]:
                yield f"[{title}, previous run]", runs[name, container["name"], number]
            streams = runs[name, container["name"], numbers[-1]] if numbers else []
            yield f"[{title}: {_describe_state(pod, status)}]", streams


def _describe_state(pod: Object, status: Object) -> str:
    """Describe a container's state in a few words."""
    state: dict[str, Object] = status.get("state") or {}
    kind, detail = next(iter(state.items()), ("", {}))
    reason = detail.get("reason") or at(pod, "status", "phase", default="")
    word = "running" if kind == "running" else f"{kind or 'not started'}, {reason}"
    restarts = status.get("restartCount") or 0
    ready = "" if kind != "running" or status.get("ready") else ", not ready"
    return f"{word}{ready}{f', {restarts} restarts' if restarts else ''}"


def _merge_lines(streams: Sequence[LogStream], limit: int) -> Iterator[tuple[float, str]]:
    """Yield the newest lines of a container's output streams, in the order of time."""

    def read(stream: LogStream) -> Iterator[tuple[int, int, str]]:
        first = max(0, len(stream) - limit)
        for index in range(first, len(stream)):
            yield stream.times_ns[index], stream.numbers[index], stream.texts[index]

    return ((time_ns / SECOND_NS, text) for time_ns, _, text in merge(*map(read, streams)))
