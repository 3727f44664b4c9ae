"""Whatever is typed at the built-in kubectl ends with an exit code: an exception would end the whole world."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from simcloud.world.clusters import add_cluster
from simcloud.world.terminal import Terminal
from simcloud.world.world import World

COMMANDS = [
    "get", "describe", "events", "explain", "api-resources", "api-versions", "auth can-i", "auth whoami",
    "config view", "config get-contexts", "config set-context", "version",
    "cluster-info", "help", "options", "config use-context",
]  # fmt: skip
SEEN = [
    "pods", "nodes", "pods,svc", "all", "deploy/coredns", "pod.spec", "-A", "-n", "kube-system", "-o", "json", "yaml",
    "wide", "name", "kyaml", "-l", "a=b", "a in (b", "--field-selector", "x=y", "--sort-by", ".metadata.name", "{.a[",
    "-w", "--raw", "/api", "--subresource", "scale", "--show-labels", "-L", "a,b", "--template", "{{.x}}", "--for",
    "-o=jsonpath={.items[*]..x}", "-o=go-template={{range .items}}{{.}}{{end}}", "-o=custom-columns=A:.b,C:.d[0]",
    "contexts.x.namespace", "users", "clusters.a.b.c", "--recursive", "--minify", "--raw=true", "--as", "bob", "--list",
    "--kubeconfig", "/etc/passwd", "/root", "-f", "-", "/dev/null", "--request-timeout", "1", "--server", "http://[", ":0",
    "--chunk-size", "-1", "--output-watch-events", "--server-print=false", "--no-headers", "--context", "get", "*",
]  # fmt: skip
WORD = st.one_of(
    st.sampled_from(SEEN), st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=8)
)


@pytest.fixture(scope="module")
def terminal() -> Iterator[Terminal]:
    """The operator's host beside a cluster."""
    world = World(3)
    cluster = add_cluster(world, 4)
    cluster.start()
    world.run_for(30)
    yield Terminal(world, cluster)


@settings(max_examples=250, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.sampled_from(COMMANDS), st.lists(WORD, max_size=5))
def test_any_line_ends_with_an_exit_code(terminal: Terminal, command: str, words: list[str]) -> None:
    line = f"timeout 1 kubectl {command} {' '.join(map(shlex.quote, words))}"
    done = terminal.run(line)
    assert done.status in (0, 1, 2, 124), (line, done.stderr)
    assert done.status == 0 or done.stderr or done.stdout or done.status == 124, line
