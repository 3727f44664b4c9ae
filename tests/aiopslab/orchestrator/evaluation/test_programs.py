"""The programs of a command line, as reports count them."""

from __future__ import annotations

import pytest

from aiopslab.orchestrator.evaluation import list_programs


@pytest.mark.parametrize(
    ("line", "programs"),
    [
        ("kubectl -n shop get pods | grep geo", ["kubectl get", "grep"]),
        ("kubectl get pods -o wide && sleep 5; date", ["kubectl get", "sleep", "date"]),
        ("for ns in a b; do kubectl delete pods --all -n $ns; done", ["kubectl delete"]),
        ("sudo systemctl restart kubelet", ["systemctl restart"]),
        ("timeout 5 curl http://x 2>/dev/null", ["curl"]),
        ("A=1 /usr/bin/helm --namespace x rollback r", ["helm rollback"]),
        ("echo 'unfinished", []),
        ("", []),
    ],
)
def test_programs_of_a_line(line: str, programs: list[str]) -> None:
    assert list_programs(line) == programs
